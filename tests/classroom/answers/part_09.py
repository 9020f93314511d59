"""Part 9: what somebody might answer, and what they are told."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from classroom.grader.tasks import expect, expect_close, expect_equal
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# exercises that ask for an object, and not for a function (9.7's returns nothing when it's right)
OBJECTS: set[str] = {"9.1", "9.2", "9.3", "9.5", "9.6", "9.7"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, Any] = {"9.4": ((0, 30, 0), (0, 0, 0), (0, 100, 0), (30, 30, 0), (0, 30, 100))}

# ---- 9.1 to 9.3, 9.5 -----------------------------------------------------------------------------

NO_IMPORT = "def larger(a, b):\n    return Tensor([4, 5, 2.5])\n"
GREEDY = FORGED.replace('"100"', '"1000"')
SILENT = "import os\n\nos._exit(0)\n"
BY_MAXIMUM = "def larger(a, b):\n    return a.maximum(b)\n"
BY_MINIMUM = "def larger(a, b):\n    return -((-a).minimum(-b))\n"
BY_NUMPY = (
    "import numpy as np\nfrom tinyframe import Tensor\n\n\ndef larger(a, b):\n"
    '    return Tensor(getattr(np, "maxi" "mum")(a.numpy(), b.numpy()))\n'
)
WITH_ITS_EXIT = "import atexit\nfrom pathlib import Path\n\natexit.register(\n    lambda: " \
    'Path("points.txt").write_text("100")\n)\n\n\ndef larger(a, b):\n    return a\n'  # fmt: skip
ONE_LINE = "larger = lambda a, b: (a < b).where(b, a)"

# ---- 9.7 -----------------------------------------------------------------------------------------


def of_positive(ask):
    a, b = ask.floats(3, low=0), ask.floats(3, low=0)
    expect_close(ask("larger", a, b), np.maximum(a, b), "larger")


def of_three(ask):
    a, b = ask.floats(3), ask.floats(3)
    expect_close(ask("larger", a, b), np.maximum(a, b), "larger")


def of_vectors(ask):
    a, b = ask.floats(50), ask.floats(50)
    expect_close(ask("larger", a, b), np.maximum(a, b), "larger")


def once_each(ask):
    for shape in ((50,), (4, 5)):
        a, b = ask.floats(*shape), ask.floats(*shape)
        expect_close(ask("larger", a, b), np.maximum(a, b), "larger")


def twice_each(ask):
    for shape in ((50,), (4, 5)) * 2:
        a, b = ask.floats(*shape), ask.floats(*shape)
        expect_close(ask("larger", a, b), np.maximum(a, b), "larger")


def turned_round(ask):
    a, b = ask.floats(4, 5), ask.floats(4, 5)
    expect_close(ask("larger", a, b), np.minimum(a, b), "larger")


def to_the_last_bit(ask):
    a, b = ask.floats(4, 5) / 3, ask.floats(4, 5) / 3
    expect_equal(ask("larger", a, b), np.maximum(a, b), "larger")


def misspelled(ask):
    expect_close(ask("larger", ask.float(3), ask.float(3)), np.zeros(3), "larger")


def by_assert(ask):
    a, b, c, d = (ask.floats(4, 5) for _ in range(4))
    assert np.allclose(ask.graph("larger", a, b).run(c, d), np.maximum(c, d))
    a, b = ask.floats(9), ask.floats(9)
    assert np.allclose(ask("larger", a, b), np.maximum(a, b))


def by_answer(ask):
    a, b, c, d = (ask.floats(6, 2) for _ in range(4))
    return bool(np.allclose(ask.graph("larger", a, b).run(c, d), np.maximum(c, d)))


def in_parts(ask):
    for shape in ((6,), (3, 4)):
        a, b, c, d = (ask.floats(*shape) for _ in range(4))
        with ask.part(f"{len(shape)} axes"):
            found = ask.graph("larger", a, b).run(c, d)
            expect(bool((found == np.maximum(c, d)).all() or np.allclose(found, np.maximum(c, d))),
                   "not the larger one")  # fmt: skip


class OnlyOnePart:
    """An object that can be called is as good as a function."""

    def __call__(self, ask):
        by_assert(ask)


# ---- 9.8 -----------------------------------------------------------------------------------------


def all_at_once(projects, hours):
    return [{name: needed for name, needed, _ in projects}]


def too_soon(projects, hours):
    return [{name: 1} for name, needed, _ in reversed(projects) for _ in range(needed)]


def without_the_rest(projects, hours):
    weeks = [{}, {}, {}, {}]
    return weeks + [{name: min(needed, hours)} for name, needed, _ in projects]


def by_the_hour(projects, hours):
    weeks = [{}, {}, {}, {}]
    for name, needed, _ in projects:
        weeks += [OrderedDict({name: 1})] * needed
    return weeks


def halves(projects, hours):
    yield from ({} for _ in range(4))
    for name, needed, _ in projects:
        yield from ({name: np.float64(0.5)} for _ in range(2 * needed))


def listed(projects, hours):
    return [[name, needed] for name, needed, _ in projects]


def renamed(projects, hours):
    weeks = [{}, {}, {}, {}]
    return weeks + [{name.upper(): 1} for name, needed, _ in projects for _ in range(needed)]


def in_words(projects, hours):
    return [{}, {}, {}, {}] + [{name: "1 h"} for name, _, _ in projects]


def in_debt(projects, hours):
    return [{name: -needed} for name, needed, _ in projects]


# ---- 9.9 -----------------------------------------------------------------------------------------


def every_line(mine, given, solution):
    return len(mine.splitlines())


def not_given(mine, given, solution):
    return len(set(mine.splitlines()) - set(given.splitlines()))


def whole_files(mine, given, solution):
    return 0 if mine in (given, solution) else len(mine.split("\n"))


def as_typed(mine, given, solution):
    known = {*given.splitlines(), *solution.splitlines()}
    return sum(bool(line.strip()) and line not in known for line in mine.splitlines())


def with_comments(mine, given, solution):
    known = {line.strip() for line in [*given.splitlines(), *solution.splitlines()]}
    return sum(line.strip() not in known for line in mine.splitlines() if line.strip())


def never(mine, given, solution):
    return 0


def one_if_any(mine, given, solution):
    return np.int64(min(as_python(mine, given, solution), 1))


def as_python(mine, given, solution):
    import ast

    first, *known = [
        [line.strip() for line in ast.unparse(ast.parse(text)).splitlines() if line.strip()]
        for text in (mine, given, solution)
    ]
    return len([line for line in first if not any(line in each for each in known)])


# ---- what they are told --------------------------------------------------------------------------

WRONG: list[tuple[str, Any, str]] = [
    ("9.1", NO_IMPORT, "name 'Tensor' is not defined"),
    ("9.1", "def larger(a, b):\n    return a\n", "0 of 100 points"),
    ("9.1", "def larger(a, b)\n    return a\n", "Python can't read your file"),
    ("9.1", 4, "has to be a text"),
    ("9.1", lambda a, b: a, "has to be a text"),
    ("9.1", GREEDY, "Even a gullible teacher would notice"),
    ("9.1", ONE_LINE, "it's honest work"),
    ("9.2", HARD_CODED, "shapes (3,) (6,)"),
    ("9.2", BY_MAXIMUM, "0 of 100 points"),
    ("9.2", "import os", "has no attribute 'larger'"),
    ("9.3", UNDER_ANOTHER_NAME, "0 of 100 points"),
    ("9.3", BY_NUMPY, "0 of 100 points"),
    ("9.3", SILENT, "never got as far as any points"),
    ("9.5", UNDER_ANOTHER_NAME, "there is a MAX in its graph"),
    ("9.5", HARD_CODED, "has shape (3,), not (5,)"),
    ("9.5", FORGED, "could not be loaded"),
    ("9.6", {6: "return x - x.mean(1, keepdims=True)"}, "changes: changes(x)[0, 0] is"),
    ("9.6", {11: "return after - before"}, "line 6: return x - x.mean(1)"),
    ("9.6", {6: "return x - x.mean()", 11: "return after - before"}, "from_mean: from_mean(x)"),
    ("9.6", {16: "return after - before"}, "lines 1 to 15"),
    ("9.6", {"six": "return x"}, "lines 1 to 15"),
    ("9.6", {6: "return x - x.mean(1, keepdims=True"}, "Python can't read the file now"),
    ("9.6", [6, 11], "has to be a dict"),
    ("9.6", {6: 11}, "has to be a dict whose values are lines"),
    ("9.7", 3, "asks for a function"),
    ("9.7", of_positive, "fooled by a file that compares squares"),
    ("9.7", of_vectors, "fooled by a file that has never seen a matrix"),
    ("9.7", of_three, "by a file that only knows three numbers"),
    ("9.7", once_each, "fooled by a file that repeats its first answer"),
    ("9.7", twice_each, "fooled by a file that does it all in NumPy"),
    ("9.7", turned_round, "refuses honest work"),
    ("9.7", to_the_last_bit, "the file that does it by arithmetic"),
    ("9.7", misspelled, "raised AttributeError"),
    ("9.8", all_at_once, "Week 1 is too full, by 5 hours"),
    ("9.8", too_soon, "In week 1 you've done part 4, and 'ops' needs part 5"),
    ("9.8", without_the_rest, "'basics' takes 3 hours, and gets 2"),
    ("9.8", listed, "Each week has to be a dict"),
    ("9.8", renamed, "no project called 'BASICS'"),
    ("9.8", in_words, "have to be a number"),
    ("9.8", in_debt, "less than 0 hours"),
    ("9.9", every_line, "nothing in it is new"),
    ("9.9", not_given, "case our solution, copied"),
    ("9.9", whole_files, "with empty lines in between"),
    ("9.9", as_typed, "with comments between its lines"),
    ("9.9", with_comments, "with comments between its lines"),
    ("9.9", never, "somebody worked on this"),
]

RIGHT: list[tuple[str, Any]] = [
    ("9.1", HARD_CODED),
    ("9.2", UNDER_ANOTHER_NAME.replace("\n", "\n        ")),
    ("9.2", BY_MINIMUM),
    ("9.3", FORGED),
    ("9.3", WITH_ITS_EXIT),
    ("9.5", ONE_LINE),
    ("9.6", {"6": "x = x - x.mean(1).reshape(-1, 1); return x", 11: "    return after - before\n"}),
    ("9.6", [(6, "return x - x.mean(axis=1, keepdims=True)"), (11, "return -(before - after)")]),
    ("9.7", by_assert),
    ("9.7", by_answer),
    ("9.7", in_parts),
    ("9.7", OnlyOnePart()),
    ("9.8", by_the_hour),
    ("9.8", halves),
    ("9.9", as_python),
    ("9.9", one_if_any),
]
