"""What a lesson says about a machine: what is measured decides, and each text is about one case."""

from __future__ import annotations

import pytest

from classroom import outcomes
from classroom.build import sanitized
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.search.beam import SearchResult

VECTOR = Opt(OptOps.VECTOR, 0, 8)
UPCAST = Opt(OptOps.UPCAST, 0, 8)


def found(planned: float, *opts: Opt, searched: float = 35.0) -> SearchResult:
    return SearchResult(opts, seconds=1e-3, planned=planned * 1e-3, tried=80, searched=searched)


# of 100 GFLOP/s that another list of opts, or NumPy, reaches
@pytest.mark.parametrize(
    "tell, first, other, said",
    [
        ("greedy", "greedy", "6 rows", ["Below, by 40%. ", "No higher, ", "Above, by 40%, "]),
        ("four_by_three", "4 rows of 3", "6 rows of 2",
         ["Fewer loads, and slower by 40%. ", "Fewer loads, and just as fast, ",
          "Fewer loads, and faster by 40%. "]),
        ("beside_numpy", "6 rows of 2", "NumPy",
         ["We're at 60% of NumPy now.", "We've caught up ", "We're ahead of NumPy now, at 140% "]),
        ("panel", "a panel", "columns first",
         ["The panel gained nothing ", "The panel gained nothing ", "Tidying up paid: "]),
        ("at_the_end", "a panel", "NumPy",
         ["That's 60% of NumPy. ", "That's NumPy, or close to it, ", "That's 140% of NumPy, "]),
    ],
)  # fmt: skip
def test_the_faster_one_decides_what_is_said(tell, first, other, said):
    for rate, beginning in zip((60, 102, 140), said, strict=True):
        assert getattr(outcomes, tell)({first: rate, other: 100}).startswith(beginning)


def test_lanes_pay_where_the_compiler_makes_none_by_itself():
    for took, said in ((60, "Your lanes pay, "), (98, "gain little"), (140, "40% faster")):
        seconds = {"8 lanes, 8 rows": took, "8 rows at a time": 100}
        assert said in outcomes.rows_or_lanes(seconds)


def test_a_search_says_what_it_found_and_what_that_took():
    lanes = outcomes.mirrored_search(found(5, VECTOR))
    assert lanes.startswith("5.0 times as fast, for 35 seconds of searching. It found `Opt(")
    assert lanes.endswith("vectors along the columns, backwards or not.")
    assert "no vectors, but several columns" in outcomes.mirrored_search(found(5, UPCAST))
    assert "nothing better" in outcomes.mirrored_search(found(1, VECTOR))


def test_a_search_that_gains_little_takes_many_runs_to_earn_back():
    assert "for a second or so of searching you" in outcomes.matmul_search(found(1, searched=0.4))
    assert "by 10%, and that takes 350,000 runs" in outcomes.matmul_search(found(1.1))


def test_no_notebook_compares_what_happened(capsys):
    code = outcomes.as_html(["`two` < 2"])
    assert "<code>two</code> &lt; 2" in code
    assert sanitized(code) == sanitized(outcomes.as_html(["one"])) == "WHAT HAPPENED"
    outcomes.what_happened("one", "two")
    assert capsys.readouterr().out == "This machine: one two\n"
    assert sanitized("This machine: one two\n") == "WHAT HAPPENED\n"
