"""What several exercises of this lesson need."""

from collections.abc import Callable
from typing import Any

from classroom.ask import Open, Wrong, wants, wrong_if
from classroom.toys.grading import as_file, gullible, really


def program(answer) -> str:
    """The text of a file. Wrong where it is none, or not Python."""
    wants(answer, str, "a text: all lines of a file, between triple quotes")
    text = as_file(answer)
    if not text.strip():
        raise Open("The file is empty so far.")
    try:
        compile(text, "your file", "exec")
    except SyntaxError as error:
        raise Wrong(f"Python can't read your file: {error.msg}, in line {error.lineno}.") from None
    return text


def fools(grader: str, said: str) -> Callable[[Any], str]:
    """A check: does this file get 100 points from a gullible grader without deserving them?"""

    def check(answer) -> str:
        text = program(answer)
        points, trouble = gullible(grader, text)
        more = (("it said", trouble),) if trouble else ()
        if points is None:
            raise Wrong(f"The {grader} grader never got as far as any points.", more=more)
        wrong_if(points > 100, f"{points} of 100 points? Even a gullible teacher would notice.")
        if points < 100:
            raise Wrong(f"The {grader} grader isn't fooled: {points} of 100 points.", more=more)
        wrong_if(really(text).is_full, "This fools nobody, because there's nothing wrong with it: "
                 "it's honest work, and our own grader gives it 100 points. Keep it for exercise "
                 "9.5, and cheat here.")  # fmt: skip
        return said

    return check
