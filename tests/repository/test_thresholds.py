"""Each threshold of the compiler can be measured again, and moves what it says."""

from __future__ import annotations

import pytest

from benchmarks.thresholds import MOVED, main, threshold
from tests.kernels import kernels_of, on_buffer
from tinyframe import thresholds


def test_every_threshold_can_be_measured():
    assert set(MOVED) == set(thresholds.TABLE)


def test_a_threshold_has_another_value_for_a_while():
    large = on_buffer(thresholds.LARGE_REDUCE)
    assert len(kernels_of(large.sum())) == 2
    with threshold("LARGE_REDUCE", 2 * thresholds.LARGE_REDUCE):
        assert len(kernels_of(large.sum())) == 1
    assert len(kernels_of(large.sum())) == 2


def test_a_line_for_each_kernel_that_it_moves(capsys):
    assert main(["SUMS_AT_ONCE", "--turns", "2", "--values", "2", "4"]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert title == "SUMS_AT_ONCE, rows"
    assert len(lines) == len(MOVED["SUMS_AT_ONCE"][0])
    assert all("2*: " in line and "4: " in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["LONG_SUMS"], "perhaps LONG_SUM"), (["--values", "3"], "name it")],
)
def test_a_wrong_name_is_told_so(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err
