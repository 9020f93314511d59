"""Whether two expressions agree; the rules that lie; rules of one's own in the compiler."""

from __future__ import annotations

import math

import numpy as np
import pytest

from classroom.added import added, blamed, described, table_of, work
from classroom.exercise import Wrong
from classroom.lies import MOST, candidates, differ, lie, number, shown, tried, written
from classroom.obvious import TEN, tried_on
from tinyframe import Tensor, Variable
from tinyframe.codegen import passes
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, UPat

p, q = number("p"), number("q")
i, j = Variable("i", 0, 3), Variable("j", -2, 2)
v = UPat.var("v")
ZERO = PatternMatcher([(v * 0, lambda v: v.const_like(0))])


def reading() -> Tensor:
    return Tensor([1.0, math.inf]).realize()


# ---- lies ----------------------------------------------------------------------------------------


def test_a_lie_says_where_and_what():
    found = lie(i % 3, i)
    assert found is not None
    assert (found.where(), found.honest, found.other) == ("i = 3", 0, 3)
    assert lie(i % 4, i) is None and lie(j % 4, j) is not None
    assert lie(p + p, p * 2) is None
    assert lie((p + q) - q, p) is not None


def test_the_sign_of_a_zero_counts_unless_it_is_forgiven():
    assert lie(p + 0, p) is not None and lie(p + 0, p, zeros=False) is None
    assert differ(0.0, -0.0) and not differ(math.nan, -math.nan) and differ(math.nan, 0.0)
    assert differ(1, True) and not differ(3, 3)


def test_expressions_without_variables_are_compared_once():
    five = i.const_like(5)
    assert lie(five % 5, five % 5) is None
    found = lie(five % 5, five)
    assert found is not None and found.where() == ""


def test_what_is_tried():
    assert [values[i] for values in tried(i)] == [0, 1, 2, 3]
    assert len([*tried(i, j)]) == 4 * 5
    wide = Variable("w", 0, 2**25)
    assert 2**24 + 1 in candidates(wide) and len(candidates(wide)) < 200
    assert all(0 <= value <= 2**25 for value in candidates(wide))
    assert [*candidates(Variable("t", 0, 1, dtypes.bool))] == [False, True]
    assert len([*tried(wide, Variable("u", 0, 2**25), Variable("w2", 0, 2**25))]) == MOST


@pytest.mark.parametrize("value", [1.5e31, 2.52e8, 3.63, 0.1, 1e-30, -16777216.0, 1e-45])
def test_two_floats_that_differ_look_different(value):
    """A lie was once "1.5e+31 is right, and the mutant says 1.5e+31"."""
    one = np.float32(value)
    words = [shown(float(each)) for each in (one, np.nextafter(one, np.float32(math.inf)))]
    assert words[0] != words[1] and np.float32(words[0]) == one


def test_values_and_expressions_are_written_as_one_types_them():
    assert [shown(value) for value in (1.0, -0.0, math.inf, 7, True, 1e30)] == [
        "1.0", "-0.0", "inf", "7", "True", "1e+30"
    ]  # fmt: skip
    assert written((i * 4 + j) // 4) == "((i*4)+j)//4"
    assert written((i + j) * (i + 1)) == "(i+j)*(i+1)" and written(i) == "i"


# ---- ten rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["a", None, (1, 2, 3), 10**400, [object()]])
def test_what_is_no_number_is_not_tried(given):
    assert tried_on(TEN[0], given) is None and tried_on(TEN[6], given) is None


# ---- added ---------------------------------------------------------------------------------------


def test_rules_are_in_the_compiler_inside_and_gone_afterwards():
    before = list(passes)
    with pytest.raises(KeyError), added(ZERO):
        assert (reading() * 0).tolist() == [0.0, 0.0] and len(passes) == len(before) + 1
        raise KeyError
    assert passes == before
    assert math.isnan((reading() * 0).tolist()[1])


def test_work_counts_what_is_computed_and_not_where():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    assert work(x.T * 2 + 1) == {"MUL": 1, "ADD": 1}
    assert work(x.T.contiguous()).total() == 0
    assert described(work(x.T * 2 + 1)) == "2 operations: 1 ADD, 1 MUL"
    assert described(work(x.T.contiguous())) == "0 operations"


def test_who_never_ends_is_blamed_without_the_name_of_a_file(capsys):
    w = UPat.var("w")
    blamed(i + j, PatternMatcher([(v + w, lambda v, w: w + v)]))
    blamed(i + i, PatternMatcher([(v + v, lambda v: v * 2)]))
    said = capsys.readouterr().out
    assert "RewriteLoopError" in said and "lambda v, w: w + v" in said and ".py" not in said
    assert said.endswith("i*2\n")


def test_a_table_is_made_of_whatever_holds_rows():
    row = (v + v, lambda v: v * 2)
    rule = PatternMatcher([row]).rules[0]
    for rows in (row, [*row], [row], (row, rule), rule, PatternMatcher([row]), iter([row])):
        assert all(len(one) == 1 or len(one) == 2 for one in [table_of(rows)])
    nothing: object
    for nothing in ("row", 3, [], [v], lambda v: v, (v, v), {}):
        with pytest.raises(Wrong, match="has to be a pair"):
            table_of(nothing)
