"""Two lines to mend

Hint: Each row that isn't right has a hint, and one of them names a line. What does the other
one's sign tell you?
Hint: `x.mean(1)` has lost the axis that it should keep. And `before - after` is a change
backwards.
Because: `keepdims=True` keeps the mean in its row, so that it fits under the table again, and a
change is what comes later less what was before.
"""

import textwrap
from collections.abc import Mapping

from classroom.ask import Wrong, describe, wants
from classroom.toys.files import HALF_DONE
from classroom.toys.grading import readings


def check(answer) -> str:
    report = readings(patched(HALF_DONE, answer))
    for row in report.rows[:3]:
        if not row.passed:
            more = (("the report", row.where),) if row.where else ()
            raise Wrong(f"{report.score} of 100 points. {row.task}: {row.found}.", more=more)
    if report.is_full:
        return "100 of 100, and you weren't even asked for the last one."
    return f"{report.score} of 100 points, from 20. Two lines, and the report told you which."


def patched(text: str, answer) -> str:
    """The text with some of its lines replaced; where a new line isn't indented, it is."""
    if isinstance(answer, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in answer
    ):
        answer = dict(answer)
    wants(answer, Mapping, "a dict from the number of a line to what it should say")
    lines = text.splitlines()
    for number, new in answer.items():
        place = int(number) if str(number).strip().isdecimal() else 0
        if not 1 <= place <= len(lines):
            raise Wrong(f"The file has lines 1 to {len(lines)}.", got=describe(number))
        wants(new, str, "a dict whose values are lines of Python, as text")
        old = lines[place - 1]
        indent = old[: len(old) - len(old.lstrip())]
        new = textwrap.dedent(new).strip()
        lines[place - 1] = textwrap.indent(new, indent)
    found = "\n".join(lines) + "\n"
    try:
        compile(found, "the file", "exec")
    except SyntaxError as error:
        raise Wrong(f"Python can't read the file now: {error.msg}, line {error.lineno}.") from None
    return found

# %% wrong, each line
{11: "return after - before"}  # says line 6: return x - x.mean(1)
{"six": "return x"}  # says lines 1 to 15
{6: "return x - x.mean(1, keepdims=True"}  # says Python can't read the file now
[6, 11]  # says has to be a dict
{5: 'def from_mean(x, keepdim=True):', 11: 'return after - before'}  # keepdim is in the wrong place

# %% right, each line
[(6, "return x - x.mean(axis=1, keepdims=True)"), (11, "return -(before - after)")]
{6: 'return (x.T - x.mean(1)).T', 11: 'return x[:, 1:] - x[:, :-1]'}  # turned, so that the means meet the days
