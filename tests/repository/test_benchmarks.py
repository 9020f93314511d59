"""Benchmarks: rows mean the same in every library, and made-up times become the right tables."""

import json
import math

import numpy as np
import pytest

from benchmarks import growth, report, run
from benchmarks.libraries import LeftOut, differences, parts, run_numpy, run_ours
from benchmarks.measure import Comparison, Program, compare, interleaved
from benchmarks.work import TABLES
from tests.repository.test_packages import EXTRAS, ROOT

SHRINK = 32
SMALL = {(table, work.name): work for table, rows in TABLES.items() for work in rows(SHRINK)}
WITH_REFERENCE = [key for key, work in SMALL.items() if work.reference]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.SETTLE", 0.0)
    monkeypatch.setattr("benchmarks.measure.LEAST", 0.0)


def row(name, tinyframe, must=("torch", 1.0), **others):
    return {
        "name": name, "must": must, "flops": 2e9, "bytes": 1e6, "kernel ops": 2e9,
        "kernel bytes": 1e6, "seconds": {"tinyframe": tinyframe, **others},
    }  # fmt: skip


def around(seconds, turns=10):
    return [seconds * (1 + n / 1000) for n in range(turns)]


def made_up():
    rows = [
        row("quick", around(1.0), torch=around(2.0), numpy=around(4.0)),
        row("slow", around(1.0), ("numpy", 0.8), numpy=around(0.5)),
        row("alone", around(1.0), None),
    ]
    scheduling = {"what": "scheduling", "size": 1000, "seconds": {"tinyframe": around(1e-3)}}
    return {
        "method": "Made up.", "machine": {"processor": "none"}, "left out": ["tinygrad: no clang"],
        "peaks": {"all cores": {"flops": 4e9, "bandwidth": 1e9, "threads": 2}},
        "tables": {"all cores": rows}, "growth": [scheduling],
    }  # fmt: skip


# ---- the rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", WITH_REFERENCE, ids=" ".join)
def test_a_row_means_the_same_to_us_and_to_numpy(key):
    work = SMALL[key]
    arrays = work.inputs()
    _, ours, jit = run_ours(work, arrays)
    assert jit.captured.kernels
    assert differences(ours, parts(work.reference(*arrays))) < 1e-4
    if work.numpy:
        assert differences(ours, run_numpy(work, arrays, ours[0].shape)[1]) < 1e-4


def test_rows_have_names_of_their_own_and_something_that_they_must_be():
    for rows in TABLES.values():
        names = [work.name for work in rows()]
        assert len(set(names)) == len(names)
    assert all(work.must[0] in ("numpy", "torch") for work in SMALL.values() if work.must)
    assert sum(work.must is None for work in SMALL.values()) <= 3
    assert any(work.quick for work in SMALL.values())


def test_what_is_measured_alone_is_left_out_by_name():
    work = SMALL["all cores", "attention"]
    with pytest.raises(LeftOut, match="not in this row"):
        run_numpy(work, work.inputs(), (1,))


# ---- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "than", "verdict"),
    [
        (around(2.0), 1.0, "quicker"),
        (around(2.0), 3.0, "slower"),
        ([1.1, 0.9] * 5, 1.0, "even"),
        (around(1.0, 5), 1.0, "even"),
    ],
)
def test_a_difference_is_one_only_where_the_rank_test_says_so(theirs, than, verdict):
    assert compare(theirs, [1.0] * len(theirs), than).verdict == verdict


def test_a_verdict_without_a_test_is_none():
    assert Comparison(2.0, 1.9, 2.1, math.nan).verdict == "untested"


def test_programs_run_in_turn_and_slow_ones_less_often():
    order = []

    class Elsewhere:
        def turn(self):
            order.append("slow")
            return 2.0

    times = interleaved(9, a=lambda: order.append("a"), slow=Elsewhere())
    assert order[:6] == ["a", "a", "slow", "a", "a", "slow"]
    assert (len(times["a"].seconds), len(times["slow"].seconds)) == (9, 7)


def test_a_short_program_is_called_until_it_takes_long_enough(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.LEAST", 1e-3)
    calls = []
    program = Program(lambda: calls.append(0))
    program.turn()
    assert program.calls > 10
    assert len(calls) == 1 + program.calls


# ---- tables and pictures ------------------------------------------------------------------------


def test_the_table_says_what_was_reached():
    (title, (head, *rows)), (_, growing) = report.tables(made_up())
    assert "threads 2" in title and "4 GFLOP/s" in title
    by_name = {cells[0]: dict(zip(head, cells, strict=True)) for cells in rows}
    assert by_name["quick"]["× PyTorch"] == "2.00 [2.00…2.00]"
    assert by_name["quick"]["of peak"] == "50%"
    assert {name: cells["reached"] for name, cells in by_name.items()} == {
        "quick": "yes", "slow": "no", "alone": "–",
    }  # fmt: skip
    assert growing[1][:3] == ["scheduling 1,000", "µs per kernel", "1,004"]


def test_the_text_survives_json_and_names_what_was_left_out():
    results = json.loads(json.dumps(made_up()))
    assert report.text(results).endswith("left out: tinygrad: no clang")
    assert "1 rows are above what they must be, 0 at it, 1 below" in report.summary(results)


def test_the_readme_is_filled_again_and_again(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.fill_readme(readme, made_up())
    once = readme.read_text()
    report.fill_readme(readme, made_up())
    assert readme.read_text() == once
    assert once.startswith("before\n") and once.endswith("after\n") and "old" not in once
    assert "| quick | 1e+03 |" in once and "Made up." in once
    report.fill_readme(readme, made_up(), report.plot(made_up(), tmp_path))
    assert "![ratios all cores](ratios_all_cores.svg)" in readme.read_text()


def test_a_readme_without_markers_is_left_alone(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("text")
    with pytest.raises(ValueError, match="lacks"):
        report.fill_readme(readme, made_up())
    assert report.BEGIN in (ROOT / "README.md").read_text()


def test_pictures_are_svg(tmp_path):
    files = report.plot(made_up(), tmp_path)
    assert [file.name for file in files] == ["ratios_all_cores.svg", "roofline_all_cores.svg"]
    assert all("<svg" in file.read_text() for file in files)
    before = [file.read_text() for file in files]
    assert [file.read_text() for file in report.plot(made_up(), tmp_path)] == before


# ---- the whole ----------------------------------------------------------------------------------


def test_a_row_is_measured_and_its_kernels_are_kept(tmp_path):
    work = SMALL["all cores", "add"]
    found = run.measure("all cores", work, 1, 3, None, tmp_path)
    assert len(found["seconds"]["tinyframe"]) == 3
    assert found["kernels"] == 1
    assert found["kernel bytes"] == 12 * np.prod(work.inputs()[0].shape)
    assert {file.suffix for file in tmp_path.rglob("*.*")} == {".c", ".txt"}


def test_scheduling_is_counted_by_kernel():
    assert len(growth.scheduling(10, 2).seconds) == 2


def test_the_extra_has_what_a_run_uses():
    packages = " ".join(EXTRAS["bench"])
    assert all(name in packages for name in ("tinygrad", "scipy", "matplotlib"))
