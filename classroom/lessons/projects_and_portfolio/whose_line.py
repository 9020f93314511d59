"""Whose line is it?

Hint: What do you compare: whole files, or lines? And what about a line has to be ignored before
you compare it?
Hint: Cut each line at `#`, strip it, and drop it if nothing is left. Do that to all three texts,
and count your lines that are in neither of the others.
Because: Lines are compared without comments and spaces, so a copied one is found whatever it's
dressed up in.
Right: A copied file counts for nothing, whatever it's dressed up in, and work counts.
"""

import random

from classroom.ask import Wrong, call, whole_number, wrong_if

GIVEN = """\
def double(x):
    ...


def triple(x):
    ...
"""


SOLUTION = """\
def double(x):
    return x + x


def triple(x):
    twice = double(x)
    return twice + x
"""


def check(answer) -> None:
    own = f"value_{random.randint(10, 99)}"
    copied = [line for line in SOLUTION.splitlines() if line.strip()]
    cases: list[tuple[str, str, int, int]] = [
        ("the file as it was handed out", GIVEN, 0, 0),
        ("our solution, copied", SOLUTION, 0, 0),
        ("our solution, with empty lines in between", "\n\n\n".join(copied), 0, 0),
        ("our solution, with comments between its lines",
         "\n".join(f"{line}\n    # so far so good" for line in copied), 0, 0),
        ("our solution, with a comment at the end of each line",
         "\n".join(f"{line}  # all mine" for line in copied), 0, 0),
        ("our solution, indented by a tab", SOLUTION.replace("    ", "\t"), 0, 0),
        ("half of it copied, and two lines that are new",
         SOLUTION.replace("    twice = double(x)\n    return twice + x",
                          "    total = x * 2\n    return total + x"), 1, 2),
        ("everything new, four lines of it",
         "def double(n):\n    return n * 2\n\n\ndef triple(n):\n    return n * 3\n", 1, 4),
    ]  # fmt: skip
    body = "\n".join(f"    {own} = {own} + x * {n}" for n in range(7))
    fresh = GIVEN.replace("    ...\n\n\ndef triple", f"{body}\n    return {own}\n\n\ndef triple")
    cases.append(("a different file", fresh, 1, 8))
    for case, text, least, most in cases:
        got = whole_number(call(answer, text, GIVEN, SOLUTION), case)
        wanted = str(most) if least == most else f"{least} to {most}"
        if got > most:
            text = "nothing in it is new" if not most else f"at most {most} lines are new"
            raise Wrong(f"You count too many: {text}.", case, wanted, got)
        wrong_if(got < least, "You count too few: somebody worked on this.", case, wanted, got)

# %% shared
def as_python(mine, given, solution):
    import ast

    first, *known = [
        [line.strip() for line in ast.unparse(ast.parse(text)).splitlines() if line.strip()]
        for text in (mine, given, solution)
    ]
    return len([line for line in first if not any(line in each for each in known)])

# %% wrong: says nothing in it is new
def every_line(mine, given, solution):
    return len(mine.splitlines())
every_line

# %% wrong: says somebody worked on this
def never(mine, given, solution):
    return 0
never

# %% wrong: line by line, side by side
def own_lines(mine, given, solution):
    pairs = zip(mine.splitlines(), solution.splitlines())
    return sum(a.strip() != b.strip() for a, b in pairs)

# %% right, each line
as_python

# %% right: 4.0 is a whole number
def own_lines(mine, given, solution):
    strip = lambda text: [s for l in text.splitlines() if (s := l.partition("#")[0].strip())]
    known = strip(solution) + strip(given)
    return float(sum(line not in known for line in strip(mine)))
