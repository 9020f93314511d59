"""Eight faults

Hint: Ask each line: is it needed for what the title says? Is what it claims true? For which input
would it be wrong? What would have to happen for this test to fail?
Hint: There's a new dependency, an unrelated change, a default value that remembers, a docstring
about columns, a dtype that can't hold 256 squared, a gradient without its n, an exception that
disappears, and a test that compares something with itself.
Because: Five of them pass every test, as one of the eight is that the test can't fail.
Right: Eight of eight, and nobody accused wrongly. This change isn't getting in.
"""

from classroom.contributing import review
from classroom.exercise import Open, Wrong
from classroom.lessons.other_peoples_changes.shared import several


def check(answer) -> None:
    """answer: the numbers of the lines that are faults, one or more for each of the eight."""
    try:
        numbers = review.numbers_of(answer)
    except ValueError as odd:
        raise Wrong("A mark has to be the number of a line.", got=str(odd)) from None
    if not numbers:
        raise Open("Nothing is marked yet.")
    last = len(review.lines())
    if beyond := [n for n in numbers if not 1 <= n <= last]:
        raise Wrong(f"There's no line {beyond[0]}; they go from 1 to {last}.")
    found = review.reviewed(numbers)
    rows = [(f"line {n}", f"✓ {kind}") for kind, n in found.found.items()]
    rows += [(f"line {line.number}", f"✗ {line.why_innocent}") for line in found.innocent[:5]]
    if found.missed:
        total = len(review.FAULTS)
        head = f"You found {len(found.found)} of {total}."
        if found.innocent:
            head += f" {several(len(found.innocent), 'mark')} too many."
        raise Wrong(head, more=tuple(rows))
    if found.innocent:
        raise Wrong(f"You found all eight, and {several(len(found.innocent), 'line')} besides that "
                    "aren't faults. An author who is wrongly accused stops reading.",
                    more=tuple(rows[len(found.found) :]))  # fmt: skip

# %% shared
from classroom.contributing.review import first_lines
LINES = first_lines()
ALL_EIGHT = list(LINES.values())

# %% wrong, each line
ALL_EIGHT[:5]  # says You found 5 of 8
range(1, 80)  # says all eight, and
[*ALL_EIGHT, 800]  # says There's no line 800
2.5  # says has to be the number
[5, 22, 32, 33, 38, 46, 48, 64]  # line 46 is right: the n is missing in 47

# %% right, each line
ALL_EIGHT
{5, 24, 36, 33, 38, 47, 49, 65}  # other lines, same faults
