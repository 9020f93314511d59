"""Mend the compiler

Hint: Each stage is a pair, a name and a function. Which pairs do you want to keep?
Hint: `[(n, f) for n, f in stages if …]` keeps the ones for which the condition is true.
Because: A compiler is a list of stages, so mending this one takes a list without the culprit. All
the others stay, in their order: each relies on what the ones before it did.
"""

from collections.abc import Iterable
from typing import Any

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.lessons.three_wrong_bills.shared import bills, shop
from classroom.sabotage import CULPRIT, PLANTED, healthy
from tinyframe.codegen import passes


@healthy()
def check(answer) -> str:
    """answer(stages, name): the stages without the one of that name."""
    whole = list(passes)
    middle = len(whole) // 2
    cases = {
        "the culprit comes first": ([PLANTED, *whole], CULPRIT),
        "the culprit is in the middle": ([*whole[:middle], PLANTED, *whole[middle:]], CULPRIT),
        "the culprit comes last": ([*whole, PLANTED], CULPRIT),
        "a different culprit": ([*whole[:2], ("shortcut", PLANTED[1]), *whole[2:]], "shortcut"),
        "it's there twice in a row": ([PLANTED, PLANTED, *whole], CULPRIT),
        "there is no stage of that name": (whole, CULPRIT),
    }
    for case, (stages, name) in cases.items():
        got = call(answer, list(stages), name)
        what = "a list of (name, function) pairs, as it was given"
        if isinstance(got, (str, bytes, dict)) or not isinstance(got, Iterable):
            raise Wrong(f"The answer has to be {what}.", case, got=describe(got))
        left = list(got)
        if not all(isinstance(stage, tuple) and len(stage) == 2 for stage in left):
            raise Wrong(f"The answer has to be {what}.", case, got=describe(_names(left)))
        wrong_if(name in _names(left), f"`{name}` is still there.", case)
        if lost := [one for one in _names(whole) if one not in _names(left)]:
            raise Wrong(f"`{lost[0]}` is gone, and it did nothing wrong.", case)
        if left != whole:
            raise Wrong("The other stages aren't what they were. Each has to be there once, in its "
                        "place.", case, ", ".join(_names(whole)),
                        ", ".join(_names(left)))  # fmt: skip
    passes[:] = list(answer([PLANTED, *whole], CULPRIT))
    right = bills(*shop()).tolist()
    return f"With the compiler that you leave, the bills are {', '.join(f'{b:g}' for b in right)}."


def _names(stages: Iterable[Any]) -> list[Any]:
    return [stage[0] if isinstance(stage, tuple) and stage else stage for stage in stages]

# %% wrong, each line
lambda stages, name: stages  # says is still there
lambda stages, name: []  # says `simplify` is gone
lambda stages, name: sorted((s for s in stages if s[0] != name), key=lambda s: s[0])  # says in its place
lambda stages, name: name  # says has to be a list
lambda stages, name: [f for n, f in stages if n != name]  # says (name, function) pairs

# %% wrong: a list that shrinks while one walks along it
def mended(stages, name):
    for stage in stages:
        if stage[0] == name:
            stages.remove(stage)
    return stages

# %% right, each line
lambda stages, name: [s for s in stages if name not in s]  # in, on a pair
