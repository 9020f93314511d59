"""Our words for theirs

Hint: Ask of each sentence what it's about: one kernel's loops, several kernels, whole arrays, or
a place of the grid?
Hint: Each of our eight words is needed once.
Because: A schedule is about one kernel's loops for Halide, and about the order of many kernels
for XLA and for us. What lower() of JAX gives still has whole arrays in it.
Right: Eight sentences from six houses, and no dictionary.
"""

from classroom.exercise import Wrong
from classroom.lessons.other_peoples_source.shared import understood
from classroom.other_frameworks import FRIENDS, numbered

OUR_WORDS = tuple(dict.fromkeys(word for _, _, word, _ in FRIENDS))


def check(answer) -> None:
    """{1: "opts", …}: our word for what each of them means."""
    names = [said for _, said, _, _ in FRIENDS]
    found = understood(
        answer, lambda: numbered(answer, names, OUR_WORDS), len(FRIENDS), "are translated"
    )
    for number, (who, said, word, why) in enumerate(FRIENDS, 1):
        given = found[said].removesuffix("s") if found[said] not in OUR_WORDS else found[said]
        given = {"opt": "opts", "beam": "BEAM", "threadblock": "thread block"}.get(given, given)
        if given not in OUR_WORDS:
            raise Wrong(f"Which of our words is {found[said]!r}? Choose from "
                        f"{', '.join(OUR_WORDS)}.", f"sentence {number}")  # fmt: skip
        if given != word:
            same = " They use our word, and don't mean what we do." if given in said else ""
            raise Wrong(f"Not that one.{same} {why}", f"sentence {number}, {who}: {said}")

# %% shared
from classroom.other_frameworks import FRIENDS, PINNED, ROOMS, room_of
MEANT = {n: word for n, (_, _, word, _) in enumerate(FRIENDS, 1)}

# %% wrong, each line
{**MEANT, 8: "program"}  # says Which of our words is 'program'
["kernel"] * 8  # says Not that one
"opts"  # says has to be a dict

# %% right, each line
MEANT
{str(n): f" {word.capitalize()}" for n, word in MEANT.items()}
