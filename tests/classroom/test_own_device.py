"""What part 8b draws and measures: a table of conformance, languages side by side, FAR's clock,
launches, and a language whose programs are Python."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

from classroom import launches
from classroom.conformed import conformance
from classroom.far import (
    HERE_SPEED,
    KINDS,
    LAUNCH,
    Far,
    add,
    bills,
    here,
    watching,
)
from classroom.languages import marked, ptx
from classroom.own_device import (
    OurRunner,
    registered,
)
from classroom.python_text import function_of, quotient
from tests.classroom.snake import Drawers, Snake, Words, snake
from tinyframe import Context, Device, Tensor
from tinyframe.device import Compiled, CompileError, Compiler


def mended(name):
    return Compiled(name, Drawers(), snake()(), Compiler(), OurRunner)


def friday(name):
    return Compiled(name, Words(), Snake(), Compiler(), OurRunner)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


# ---- Python as a language ------------------------------------------------------------------------


def test_python_as_a_language_conforms_and_two_broken_classes_do_not():
    with registered(mended, "MENDED"):
        assert conformance("MENDED").wrong == []
    rows = ["memory", "conditions of stores", "less", "divide, rounding down", "choose", "divide"]
    with registered(friday, "FRIDAY"):
        assert conformance("FRIDAY", rows).wrong == [
            "memory", "conditions of stores", "divide, rounding down", "less", "choose"
        ]  # fmt: skip


def test_python_text_without_noopt_and_with_a_local_array_computes_the_same():
    numbers = np.random.default_rng(0).random((9, 7), dtype=np.float32)
    with registered(mended, "MENDED"), Context(NOOPT=0):
        x = Tensor(numbers, device="MENDED").realize()
        assert np.allclose((x.T @ x).numpy(), numbers.T @ numbers, rtol=1e-5)
        assert x.max(axis=0).tolist() == numbers.max(axis=0).tolist()


def test_a_text_that_is_no_python_is_a_compile_error():
    with pytest.raises(CompileError, match="in line 2"):
        function_of(b"def k(data0):\n    data0[0] = = 1\n", "k")


def test_quotients_round_towards_0_in_every_type():
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3), (-128, 3), (0, -5)]
    for x, y in pairs:
        wanted = int(x / y)
        assert quotient(x, y) == quotient(np.int8(x), np.int8(y)) == wanted


def test_a_device_is_gone_afterwards_also_if_it_raises():
    with pytest.raises(ZeroDivisionError), registered(lambda name: 1 / 0, "GONE"):
        raise AssertionError("it was opened")
    assert "GONE" not in Device._devices and "GONE" not in Device._opened


# ---- the table -----------------------------------------------------------------------------------


def test_the_table_says_which_rows_are_wrong_and_tells_the_story_without_paths():
    with registered(friday, "FRIDAY"):
        table = conformance("FRIDAY", ["memory", "conditions of stores", "add", "choose"])
    assert "FRIDAY: 0 of 4 rows are right" in repr(table)
    assert "  NO  choose                all" in repr(table)
    assert "does not hold what was copied" in table.story("memory")
    assert "IndexError" in table.story("conditions of stores")
    assert "asks: A STORE whose condition is false" in table.story("conditions of stores")
    assert "File" not in table.story("conditions of stores")
    assert "data0[ridx0]" in table.story("choose")
    assert repr(table.story("chose")) == "There's no row 'chose'. Did you mean 'choose'?"
    assert table.svg().count(">NO<") > 5


def test_a_row_that_is_right_says_so():
    with registered(mended, "MENDED"):
        table = conformance("MENDED", ["names", "add"])
    assert table.story("add") == "add is right." and table.svg().count(">ok<") > 5


# ---- languages -----------------------------------------------------------------------------------


def test_only_what_is_new_is_marked():
    first, other = ["float", " ", "x"], ["__global", " ", "float", " ", "x"]
    assert [word for word, is_new in marked(first, other) if is_new and word.strip()] == [
        "__global"
    ]


def test_ptx_is_there_or_says_why_not():
    said = ptx(Tensor.ones(8).contiguous().realize() + 1)
    assert ".visible .entry" in said or said.startswith("No PTX here: ")


# ---- FAR -----------------------------------------------------------------------------------------


def test_far_is_charged_for_each_launch_and_only_while_it_is_watched():
    Device._devices["FAR"] = Far
    x = Tensor(np.ones((4, 4), np.float32), device="FAR").realize()
    with watching() as bill:
        for _ in range(3):
            (x + 1).realize()
    x.numpy()
    assert bill.seconds["launches"] == pytest.approx(3 * LAUNCH)
    assert bill.seconds["copies in"] == bill.seconds["copies out"] == 0
    for size in (4, 100, 1000):  # and no more steps than that, however many lanes this machine has
        assert here(add, size) == pytest.approx(size / HERE_SPEED)


def test_bills_are_plotted_as_shares_and_printed(capsys):
    bills(["a + b", "a @ b"], [(add, [(1000,)]), (lambda a, b: a @ b, [(64, 64)])])
    assert [axes.get_title() for axes in plt.gcf().axes] == ["a + b", "a @ b"]
    assert len(plt.gcf().axes[0].patches) == len(KINDS)
    lines = capsys.readouterr().out.splitlines()
    assert not lines[1].endswith("FAR wins") and lines[3].endswith("FAR wins")


# ---- launches ------------------------------------------------------------------------------------


def test_each_device_has_a_panel_with_the_learners_line(monkeypatch):
    monkeypatch.setattr(launches, "_least", lambda device, size: 1e-5 + 1e-9 * size)
    launches.plot_launches(lambda sizes, seconds: (2e-5, 4e-9), {"CPU": [1, 1000], "CPU:1": [1, 9]})
    titles = [axes.get_title() for axes in plt.gcf().axes]
    assert "CPU: a launch 20.0 µs" in titles[0] and "a launch = 5,000 additions" in titles[1]


@pytest.mark.parametrize("fit", [lambda *given: None, lambda *given: (-1, 2), lambda *given: 1 / 0])
def test_without_a_line_of_the_learners_ours_is_drawn(fit, monkeypatch):
    monkeypatch.setattr(launches, "_least", lambda device, size: 1e-5 + 1e-9 * size)
    launches.plot_launches(fit, {"CPU": [1, 1000, 100_000]})
    assert "a launch 10.0 µs" in plt.gca().get_title()


def test_a_kernel_is_timed_without_what_plans_it():
    assert all(0 < taken < 1 for taken in launches.seconds_of_additions("CPU", [1, 64]))
