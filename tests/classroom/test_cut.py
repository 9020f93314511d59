"""Solutions are cut out whole, what is left is Python that runs, and a wrong mark is named."""

from __future__ import annotations

import ast

import pytest

from classroom.cut import cut_solutions

WORKED = """\
def double(x):
    \"\"\"Twice x.\"\"\"
    ### BEGIN SOLUTION
    y = x
    return x + y
    ### END SOLUTION


### BEGIN SOLUTION
import math

answer = math.pi
### END SOLUTION
kernels = 2  ### SOLUTION
print(double(2))
"""

LEARNERS = """\
def double(x):
    \"\"\"Twice x.\"\"\"
    ...


...
kernels = ...
print(double(2))
"""


def test_what_is_marked_becomes_an_ellipsis_at_its_indentation():
    assert cut_solutions(WORKED) == LEARNERS
    ast.parse(cut_solutions(WORKED))


def test_text_without_marks_stays_as_it_is():
    for text in (
        "",
        "x = 1",
        "x = 1\n",
        "a\r\nb",
        "# a solution is not marked by the word SOLUTION\n",
    ):
        assert cut_solutions(text) == text


def test_cutting_twice_changes_nothing():
    assert cut_solutions(cut_solutions(WORKED)) == cut_solutions(WORKED)


@pytest.mark.parametrize(
    "line, cut",
    [
        ("x = 1  ### SOLUTION", "x = ..."),
        ("    shape = (1, 2)  ### SOLUTION", "    shape = ..."),
        ('x["a"] = y == 2  ### SOLUTION', 'x["a"] = ...'),
    ],
)
def test_a_marked_line_keeps_its_name(line, cut):
    assert cut_solutions(line) == cut


@pytest.mark.parametrize(
    "text, line",
    [
        ("a\n### BEGIN SOLUTION\nb\n", 2),
        ("a\n### END SOLUTION\n", 2),
        ("### BEGIN SOLUTION\nb\n  ### BEGIN SOLUTION\n### END SOLUTION", 3),
        ("### BEGIN SOLUTION\n1\n### END SOLUTION\n2\n### END SOLUTION\n", 5),
        ("x = 1  ### BEGIN SOLUTION\n### END SOLUTION\n", 1),
        ("a\nreturn x  ### SOLUTION\n", 2),
        ("if x == 1: pass  ### SOLUTION\n", 1),
        ("x = 1  ### SOLUTION: one", 1),
        ("one, two = 1, 2  ### SOLUTION", 1),  # ... cannot be unpacked
    ],
)
def test_a_mark_that_makes_no_sense_is_named_by_its_line(text, line):
    with pytest.raises(ValueError, match=f"^line {line}: "):
        cut_solutions(text)
