"""The culprit

Hint: Look for the lines with `MUL`, from the top. What does each say after it?
Hint: Find the first heading below which the `MUL` of the two `LOAD`s is an `int`. It's one of the
short ones.
Because: Down to `lower to ranges`, the line says `MUL float`. Below `tidy numbers`, a single line
is new, and it says `MUL int`.
"""

from classroom.ask import Wrong, wants, wrong_if
from classroom.lessons.three_wrong_bills.shared import bills, shop, stages_of
from classroom.sabotage import CULPRIT, healthy, sabotage


def check(answer) -> str:
    """The name of the stage that spoils the product."""
    wants(answer, str, "the name of a stage, in quotes")
    named = " ".join(answer.lower().replace("_", " ").strip("─ .").split())
    with healthy(), sabotage():
        stages = stages_of(bills(*shop()))
    if named == CULPRIT:
        return "Every stage before it has the product right, and every stage after it has it wrong."
    known = {"tensor graph", "prepare", "lower to ranges", *stages}
    wrong_if(named not in known, "No heading of `DEBUG=4` says this.", got=answer)
    wrong_if(named in stages, f"Below `{named}` the damage is done, but look one heading further "
             "up: was the `MUL` of the two `LOAD`s still a `float` there?")  # fmt: skip
    raise Wrong(f"Below `{named}`, the line still says `MUL float`. Read on.")

# %% wrong, each line
"simplify"  # says one heading further up
"tensor graph"  # says still says `MUL float`
"MUL"  # says No heading
['tidy numbers']  # says has to be the name of a stage

# %% right, each line
'Tidy Numbers'  # capital letters
