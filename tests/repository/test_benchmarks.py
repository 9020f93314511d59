"""Benchmarks: rows mean the same in every library, workers take turns and leave nothing behind, a
busy machine is noticed, and made-up times become the right tables."""

import json
import math
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import devices, glance, gpu, growth, primitives, report, roofline, run
from benchmarks.libraries import ABSENT, NOT_HERE, differences, parts, run_numpy, run_ours
from benchmarks.measure import Comparison, LeftOut, Program, compare, interleaved
from benchmarks.progress import lines
from benchmarks.quiet import ATTEMPTS, Quiet
from benchmarks.rows import TABLES
from benchmarks.workers import Worker
from tests.repository import worker_programs
from tests.repository.test_packages import EXTRAS, ROOT

SMALL = {(table, work.name): work for table in TABLES for work in TABLES[table].rows(shrink=32)}
WITH_REFERENCE = [key for key, work in SMALL.items() if work.reference]
FULL = {(table, work.name): work for table in TABLES for work in TABLES[table].rows()}
WAIT = 120  # seconds until a test that hangs fails


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.WARM_UP", 0.0)
    monkeypatch.setattr("benchmarks.measure.LEAST", 0.0)
    monkeypatch.setattr("benchmarks.quiet.PAUSE", 0.0)


def row(name, tinyframe, must=("torch", 1.0), marks=None, loop=1.0, **others):
    return {
        "name": name, "must": must, "flops": 2e9, "bytes": 1e6, "beside flops": 1e9,
        "kernel ops": 2e9, "kernel bytes": 1e6, "marks": marks or {}, "pace": loop,
        "seconds": {"tinyframe": tinyframe, **others},
    }  # fmt: skip


def around(seconds, turns=10):
    return [seconds * (1 + n / 1000) for n in range(turns)]


def made_up():
    rows = [
        row("quick", around(1.0), torch=around(2.0), numpy=around(4.0)),
        row("slow", around(1.0), ("numpy", 0.8), numpy=around(0.5), marks={"torch": "crashed"}),
        row("alone", around(1.0), None, loop=1.5),
        row("own", around(1.0), ("beside", 1 / 1.5), beside=around(0.4)),
    ]
    crashed = row("none", [], marks={"tinyframe": "no answer"}) | {"seconds": {}, "pace": 0.0}
    growing = row("matmul 64", around(1e-4), None, torch=around(2e-5))
    peaks = {"flops": 4e9, "bandwidth": 1e9, "threads": 2}
    return {
        "method": "Made up.", "left out": ["tinygrad: no clang"],
        "machine": {"processor": "none", "matplotlib": "not installed"},
        "peaks": {"all cores": peaks, "growth": peaks},
        "tables": {"all cores": [*rows, crashed], "growth": [growing]},
        "scheduling": {"1000": around(1e-3)},
    }  # fmt: skip


# ---- the rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", WITH_REFERENCE, ids=" ".join)
def test_a_row_means_the_same_to_us_and_to_numpy(key):
    work = SMALL[key]
    ours = run_ours(work, work.inputs())
    assert ours.facts["kernels"]
    found = ours.results()
    allowed = max(1e-4, 2 * float(np.finfo(found[0].dtype).eps))
    assert differences(found, parts(work.reference(*work.inputs()))) < allowed
    if work.numpy:
        numpys = run_numpy(work, work.inputs(), ours.facts["shapes"][0])
        assert differences(found, numpys.results()) < 1e-4


def test_only_training_steps_go_without_a_reference():
    without = {name for _, name in SMALL.keys() - set(WITH_REFERENCE)}
    assert all("step" in name or "forward, backward" in name for name in without)


def test_rows_have_names_of_their_own_and_something_that_they_must_be():
    for table in TABLES.values():
        names = [work.name for work in table.rows()]
        assert len(set(names)) == len(names)
    named = ("numpy", "torch", "beside")
    assert all(work.must[0] in named for work in FULL.values() if work.must)
    assert sum(w.must is None for (table, _), w in FULL.items() if table != "growth") <= 3
    assert any(work.quick for work in FULL.values())


def test_a_row_is_held_against_one_of_its_own_table():
    beside = {
        key: work
        for key, work in FULL.items()
        if work.beside or (work.must or "")[:1] == ("beside",)
    }
    assert {"L1 distance 512×512×512", "max-plus 512", "matmul 1024 Aᵀ·(B+1)"} <= {
        n for _, n in beside
    }
    for (table, _), work in beside.items():
        other = FULL[table, work.beside]
        assert other.flops > 0 and work.must[0] == "beside"
        assert [x.shape for x in work.inputs()][:2] == [x.shape for x in other.inputs()]


def test_results_differ_where_shapes_or_numbers_do():
    one = [np.ones((2, 3), np.float32)]
    assert differences(one, one) == 0
    assert differences([one[0].T], one) == math.inf
    with pytest.raises(LeftOut, match="off by"):
        run.check([one[0] * np.nan], one)
    with pytest.raises(LeftOut, match="off by"):
        run.check([one[0] * 1.02], one)


def test_what_is_measured_alone_is_left_out_by_name():
    work = SMALL["all cores", "attention"]
    with pytest.raises(LeftOut, match="not in this row") as left:
        run_numpy(work, work.inputs(), (1,))
    assert left.value.mark == NOT_HERE


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


class Elsewhere:
    """A program whose turns take what a list says, the last one again and again."""

    def __init__(self, *seconds, log=None):
        self.seconds, self.log = list(seconds), log if log is not None else []

    def turn(self):
        self.log.append(self)
        found = self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        if isinstance(found, Exception):
            raise found
        return found


def test_programs_run_in_turn_and_slow_ones_less_often():
    order = []
    quick, slow = Elsewhere(0.1, log=order), Elsewhere(2.0, log=order)
    times = interleaved({"quick": quick, "slow": slow}, 9)
    assert order[:4] == [quick, slow, quick, slow]
    assert (len(times["quick"].seconds), len(times["slow"].seconds)) == (9, 7)


def test_a_program_that_is_lost_stops_nobody_else():
    lost = {}
    gone = LeftOut("crashed", "its process was ended")
    programs = {"a": Elsewhere(1.0, 2.0), "b": Elsewhere(1.0, gone), "c": Elsewhere(3.0)}
    times = interleaved(programs, 4, lambda name, why: lost.update({name: why}))
    assert lost == {"b": gone}
    assert {name: t.seconds for name, t in times.items()} == {"a": (1, 2, 2, 2), "c": (3,) * 4}
    with pytest.raises(LeftOut):
        interleaved({"b": Elsewhere(gone)}, 4)


def test_a_turn_is_a_warm_up_and_enough_calls(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.WARM_UP", 1.0)
    monkeypatch.setattr("benchmarks.measure.LEAST", 10.0)
    now, calls = 0.0, []

    def run():
        nonlocal now
        calls.append(now)
        now += 3.0 if len(calls) == 1 else 0.25  # the first call is slow

    monkeypatch.setattr("benchmarks.measure.time.perf_counter", lambda: now)
    assert Program(run).turn() == 0.25
    assert len(calls) == 1 + 40


def test_what_is_slow_gets_no_warm_up(monkeypatch):
    calls = []
    program = Program(lambda: calls.append(0))
    program.turn()
    program.last = 1.0
    program.turn()
    assert len(calls) == 2 + 1


# ---- workers ------------------------------------------------------------------------------------


def test_a_worker_stands_still_until_it_is_asked(tmp_path):
    path = tmp_path / "counter"
    np.zeros(1, np.int64).tofile(path)
    counter = np.memmap(path, np.int64, "r")
    with Worker("one", 1) as one, Worker("other", 1) as other:
        one.prepare(worker_programs.counting, str(path))
        before = int(counter[0])
        other.prepare(worker_programs.nothing)
        assert other.turn() > 0  # meanwhile, a thread that ran would have counted
        assert counter[0] == before
        one.turn()
        assert counter[0] > before


def test_a_worker_computes_what_it_is_asked_with_the_threads_it_is_given():
    with Worker("one", 1, {"DEV": "here"}) as worker:
        assert worker.prepare(worker_programs.nothing, [1, 2])["process"] == worker.process.pid
        assert worker.results() == [1, 2]
        found = worker.call(worker_programs.told)
    assert found == {"THREADS": "1", "OMP_NUM_THREADS": "1", "DEV": "here"}


@pytest.mark.parametrize(
    ("function", "mark", "why"),
    [
        (worker_programs.crash, "crashed", "its process ended with exit code 3"),
        (worker_programs.fail, "failed", "ValueError: no such shape"),
        (worker_programs.decline, "absent", "not installed"),
    ],
)
def test_a_worker_that_cannot_says_why_and_the_next_row_goes_on(function, mark, why):
    with Worker("one", 1) as worker:
        with pytest.raises(LeftOut) as left:
            worker.prepare(function)
        assert (left.value.mark, str(left.value)) == (mark, why)
        worker.prepare(worker_programs.nothing)
        assert worker.turn() > 0


def test_a_crash_in_a_turn_is_named_by_its_signal():
    with Worker("one", 1) as worker:
        worker.prepare(worker_programs.crash_in_turns)
        with pytest.raises(LeftOut, match="SIGSEGV"):
            worker.turn()


def test_an_answer_that_never_comes_is_not_waited_for():
    with Worker("one", 1) as worker:
        first = worker.prepare(worker_programs.nothing)["process"]
        worker.patience = 0.1
        with pytest.raises(LeftOut, match="no answer within 0.1 s") as left:
            worker.call(worker_programs.hang)
        assert left.value.mark == "no answer" and worker.process is None
        worker.patience = WAIT
        assert worker.prepare(worker_programs.nothing)["process"] != first


def test_no_worker_is_left_after_an_error():
    with pytest.raises(ZeroDivisionError), Worker("one", 1) as one, Worker("two", 1) as two:
        started = [w.process for w in (one, two) if w.prepare(worker_programs.nothing)]
        assert [process.poll() for process in started] == [None, None]
        1 / 0  # noqa: B018
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


# Where no system call ends what a killed process has started, a worker that hangs goes on.
ENDS = [signal.SIGINT, signal.SIGTERM, *[signal.SIGKILL] * (sys.platform == "linux")]


@pytest.mark.parametrize("number", ENDS)
def test_no_worker_is_left_however_a_run_ends(number):
    code = "from tests.repository.worker_programs import hold_two_workers as hold; hold()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr.readline() == "hanging\n"
        process.send_signal(number)
        process.communicate(timeout=WAIT)  # until nobody has the pipe any more, workers included
    finally:
        process.kill()
    assert process.returncode == (143 if number == signal.SIGTERM else -number)


# ---- a quiet machine ----------------------------------------------------------------------------


def looked(**loops):
    """A Quiet that has learned: that these loops take so many seconds."""
    quiet = Quiet({name: Elsewhere(seconds) for name, seconds in loops.items()})
    quiet.learn()
    return quiet


def test_a_quiet_machine_is_measured_once():
    quiet = looked(fma=1.0, read=2.0)
    assert quiet.around(lambda: "measured", ("fma", "read")) == ("measured", 1.0)


def test_a_row_is_held_against_what_bounds_it():
    quiet = looked(fma=1.0, read=2.0)
    quiet.loops["read"] = Elsewhere(9.0)  # somebody reads a lot
    assert quiet.around(lambda: "measured", ("fma",)) == ("measured", 1.0)


def test_a_moment_without_others_makes_nothing_look_busy():
    quiet = looked(read=2.0)
    quiet.loops["read"] = Elsewhere(1.0, 2.0, 2.0)
    quiet.pace(("read",))
    assert quiet.around(lambda: "measured", ("read",)) == ("measured", 1.0)


def test_a_busy_machine_is_noticed_and_the_row_measured_again():
    quiet = looked(fma=1.0)
    quiet.loops = {"fma": Elsewhere(1.0, 2.0, 1.1)}  # somebody came while the row was measured
    measured = iter(range(10))
    assert quiet.around(lambda: next(measured), ("fma",)) == (1, 1.1)


def test_a_row_waits_for_a_quiet_machine():
    quiet = looked(fma=1.0)
    quiet.loops = {"fma": Elsewhere(3.0, 2.0, 1.1)}
    assert quiet.around(lambda: "measured", ("fma",)) == ("measured", 1.1)


def test_rows_of_a_busy_machine_are_measured_again_and_stay_out_of_docs(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text(f"{report.BEGIN}\n{report.END}\n")
    monkeypatch.setattr(glance, "PAGE", page)
    monkeypatch.setattr(glance, "main", lambda: None)
    busy, anew = made_up(), made_up()
    assert report.busy_rows(busy) == {"all cores": ["alone"]}
    (tmp_path / "results.json").write_text(json.dumps(busy))
    with pytest.raises(SystemExit, match="busy during 1 rows.*: alone. .*--again"):
        command.main(["--docs", "--out", str(tmp_path)])
    anew["tables"] = {"all cores": [row("alone", around(1e-3))]}
    alone = replace(FULL["all cores", "add"], name="alone")
    monkeypatch.setattr(command, "chosen", lambda options: {"all cores": [alone]})
    monkeypatch.setattr(command, "run", lambda choice, tell: anew)
    command.main(["--again", "--out", str(tmp_path)])
    command.main(["--docs", "--out", str(tmp_path)])
    assert "busy:" not in page.read_text() and "| alone | 1 |" in page.read_text()


def test_where_it_is_never_quiet_the_quietest_counts():
    quiet = looked(fma=1.0)
    quiet.loops, quiet.waits = {"fma": Elsewhere(3.0, 3.0, 1.4, 1.5, 2.0)}, 0
    measured = iter(range(10))
    assert quiet.around(lambda: next(measured), ("fma",)) == (1, 1.5)
    assert next(measured) == ATTEMPTS == 3
    assert report.busy_rows({"tables": {"one": [{"name": "row", "pace": 1.5}]}}) == {"one": ["row"]}


def test_the_loops_know_what_they_do(monkeypatch):
    monkeypatch.setattr(roofline, "FLOATS", 1 << 16)
    monkeypatch.setattr(roofline, "ROUNDS", 10)
    runs, operations, moved = roofline.loops(1)
    assert set(runs) == {"fma", "read", "add"}
    assert operations % (2 * 10 * roofline.CHAINS) == 0 and moved == 4 << 16
    found = roofline.peaks(1, 2)
    assert found.flops > 0 and found.bandwidth > 0
    assert math.isfinite(found.flops + found.bandwidth)


# ---- tables and pictures ------------------------------------------------------------------------


def test_the_table_says_what_was_reached():
    (title, (head, *rows)), (_, growing), (_, scheduling) = report.tables(made_up())
    assert "threads 2" in title and "4 GFLOP/s" in title
    by_name = {cells[0]: dict(zip(head, cells, strict=True)) for cells in rows}
    assert by_name["quick"]["× PyTorch"] == "2.00 [2.00…2.00]"
    assert by_name["quick"]["of peak"] == "50%"
    assert {name: cells["reached"] for name, cells in by_name.items()} == {
        "quick": "yes", "slow": "no", "alone (busy: 1.5)": "–", "own": "yes", "none": "–",
    }  # fmt: skip
    assert growing == [["µs", "tinyframe", "PyTorch"], ["matmul 64", "100", "20.1"]]
    assert scheduling[1] == ["1,000", "1,004"]


def test_the_table_marks_who_did_not_make_it():
    _, (head, *rows) = report.tables(made_up())[0]
    by_name = {cells[0]: dict(zip(head, cells, strict=True)) for cells in rows}
    assert by_name["slow"]["× PyTorch"] == "crashed"
    assert by_name["none"]["ms"] == "no answer"
    assert "× tinygrad" not in head  # nobody has anything there


def test_a_row_of_ours_is_compared_in_operations_a_second():
    _, (head, *rows) = report.tables(made_up())[0]
    (own,) = (dict(zip(head, cells, strict=True)) for cells in rows if cells[0] == "own")
    assert own["× own matmul"] == "0.80 [0.80…0.80]"  # twice the operations in 1 s for 0.4 s
    assert own["must"] == "0.67 × own matmul"


def test_the_text_survives_json_and_names_what_was_left_out():
    results = json.loads(json.dumps(made_up()))
    assert report.text(results).endswith("left out: tinygrad: no clang")
    assert "2 rows are above what they must be, 0 at it, 1 below" in report.summary(results)


def test_the_page_is_filled_again_and_again(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.fill_page(page, made_up())
    once = page.read_text()
    report.fill_page(page, made_up())
    assert page.read_text() == once
    assert once.startswith("before\n") and once.endswith("after\n") and "old" not in once
    assert "| quick | 1e+03 |" in once and "Made up." in once
    report.fill_page(page, made_up(), report.plot(made_up(), tmp_path))
    assert "![ratios all cores](ratios_all_cores.svg)" in page.read_text()


def test_a_page_without_markers_is_left_alone(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text("text")
    with pytest.raises(ValueError, match="lacks"):
        report.fill_page(page, made_up())
    assert report.BEGIN in glance.PAGE.read_text()


def test_the_picture_at_a_glance_shows_the_rows_of_the_page(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text(f"{report.BEGIN}\n{report.END}\n")
    report.fill_page(page, made_up())
    beside = {row["name"]: report.versus(row, "torch") for row in made_up()["tables"]["all cores"]}
    drawn = {row.name: row.ratio for row in glance.rows_of(page.read_text())}
    assert drawn == pytest.approx({n: c.ratio for n, c in beside.items() if c}, abs=0.005)
    picture = glance.svg(glance.rows_of(page.read_text()))
    assert picture.count("<circle") == len(drawn) > 0


def test_the_picture_in_docs_is_that_of_the_page():
    rows = glance.rows_of(glance.PAGE.read_text())
    assert glance.PICTURE.read_text() == glance.svg(rows), "python -m benchmarks.glance draws it"
    assert {glance.lane_of(row) for row in rows} == {*range(len(glance.LANES))}
    faster, slower, draws = glance.verdicts(rows)
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"faster than PyTorch in {faster} of {len(rows)} benchmarks" in text
    assert f"slower in {slower} (" in text and f"and too close to call in {draws}:" in text


def test_pictures_are_svg(tmp_path):
    files = report.plot(made_up(), tmp_path)
    assert [file.name for file in files] == ["ratios_all_cores.svg", "roofline_all_cores.svg"]
    assert all("<svg" in file.read_text() for file in files)
    before = [file.read_text() for file in files]
    assert [file.read_text() for file in report.plot(made_up(), tmp_path)] == before


# ---- the whole ----------------------------------------------------------------------------------


class Stub:
    """A worker that answers what it was given, or raises it."""

    def __init__(self, prepare=None, results=None, turn=1.0):
        self.answers = {"prepare": prepare or {}, "results": results, "turn": turn}

    def __getattr__(self, question):
        def answer(*_):
            found = self.answers[question]
            if isinstance(found, Exception):
                raise found
            return found

        return answer


def still():
    """A machine that is quiet."""
    return looked(fma=1.0, read=1.0)


def test_a_row_is_measured_in_processes_and_its_kernels_are_kept(tmp_path):
    work = FULL["one core", "matmul 64"]
    with Worker("tinyframe", 1) as ours, Worker("numpy", 1) as numpy:
        workers = {"tinyframe": ours, "numpy": numpy}
        found = run.measure("one core", work, workers, still(), 2, tmp_path)
    assert {name: len(seconds) for name, seconds in found["seconds"].items()} == {
        "tinyframe": 2, "numpy": 2,
    }  # fmt: skip
    assert (found["kernels"], found["kernel bytes"]) == (1, 3 * 4 * 64 * 64)
    assert (found["marks"], found["notes"]) == ({}, [])
    assert {file.suffix for file in tmp_path.rglob("*.*")} == {".c", ".txt"}


def test_whoever_does_not_make_it_is_marked_and_the_rest_is_measured():
    ones = [np.ones(3, np.float32)]
    workers = {
        "tinyframe": Stub({"shapes": [(3,)], "kernels": []}, ones),
        "numpy": Stub(LeftOut(NOT_HERE, "not in this row")),
        "torch": Stub(results=ones, turn=LeftOut("crashed", "its process was ended by SIGSEGV")),
        "tinygrad": Stub(LeftOut(ABSENT, "not installed")),
        "fourth": Stub(results=[2 * ones[0]]),
        "fifth": Stub(results=ones, turn=2.0),
    }
    found = run.measure("all cores", SMALL["all cores", "add"], workers, still(), 3)
    assert found["seconds"] == {"tinyframe": (1.0,) * 3, "fifth": (2.0,) * 3}
    assert found["marks"] == {"torch": "crashed", "tinygrad": "absent", "fourth": "differs"}
    assert found["notes"] == [
        "tinygrad: not installed",
        "fourth in add: its result is off by 1.0e+00 of the largest number",
        "torch in add: its process was ended by SIGSEGV",
    ]


def test_a_row_that_we_cannot_run_is_marked_and_not_measured():
    workers = {"tinyframe": Stub(LeftOut("failed", "CompileError: no")), "numpy": Stub()}
    found = run.measure("all cores", SMALL["all cores", "add"], workers, still(), 3)
    assert (found["seconds"], found["marks"]) == ({}, {"tinyframe": "failed"})
    peaks = {"flops": 1.0, "bandwidth": 1.0}
    assert report.cells(found, peaks)[:2] == ["add", "failed"]


def test_no_row_is_above_the_peak_that_it_is_held_against():
    quick = {"flops": 6e9, "seconds": {"tinyframe": [2.0, 1.0, 3.0], "torch": [1.5]}}
    slow = {"flops": 1e9, "seconds": {"tinyframe": [1.0]}}
    crashed = {"flops": 9e9, "seconds": {}}
    for measured, expected in ((3e9, 4e9), (5e9, 5e9)):
        results = {
            "peaks": {"all cores": {"flops": measured, "bandwidth": 2e9, "threads": 2}},
            "tables": {"all cores": [quick, slow, crashed]},
        }
        peaks = report.peaks_of(results, "all cores")
        assert peaks == {"flops": expected, "bandwidth": 2e9, "threads": 2}


def test_a_row_beside_another_of_ours_gets_its_times_too():
    work = FULL["all cores", "max-plus 512"]
    ours = Stub({"shapes": [(3,)], "kernels": []}, [np.ones(3, np.float32)])
    found = run.measure(
        "all cores", work, {"tinyframe": ours, "beside": Stub(turn=0.5)}, still(), 3
    )
    assert found["seconds"]["beside"] == (0.5,) * 3
    assert found["beside flops"] == FULL["all cores", "matmul 512"].flops


def test_programs_in_turn_have_to_compute_the_same():
    with pytest.raises(AssertionError, match="Mismatched"):
        primitives.in_turn(2, a=zeros, b=ones)
    assert set(primitives.in_turn(2, a=zeros, b=zeros)) == {"a", "b"}


def zeros():
    return worker_programs.nothing(np.zeros(4))


def ones():
    return worker_programs.nothing(np.ones(4))


def test_scheduling_is_counted_by_kernel():
    assert len(growth.scheduling(10, 2).seconds) == 2


# ---- the command --------------------------------------------------------------------------------


def test_rows_are_chosen_by_a_part_of_their_names():
    found = command.parse(["max-PLUS", "vector ×"]).chosen
    names = {table: [work.name for work in rows] for table, rows in found.items()}
    assert names == {"all cores": ["max-plus 512"], "one core": ["matmul vector × matrix"]}
    assert list(command.parse(["--table", "growth"]).chosen) == ["growth"]
    assert all(w.quick for rows in command.parse(["--quick"]).chosen.values() for w in rows)


def test_a_few_rows_do_not_overwrite_the_results_of_all():
    everything, few = command.parse([]), command.parse(["attention"])
    assert everything.everything and not few.everything
    assert few.out.parent == everything.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["max-plsu 512"], "close are max-plus 512"),
        (["--beside", "torch,jax"], "not jax"),
        (["--turns", "2"], "3 or more"),
        (["--table", "growth", "max-plus"], "no row is chosen"),
    ],
)
def test_a_wrong_choice_is_explained(arguments, said, capsys):
    with pytest.raises(SystemExit):
        command.parse(arguments)
    assert said in capsys.readouterr().err


def test_the_names_are_listed(capsys):
    command.main(["--list", "L1"])
    assert capsys.readouterr().out == "all cores:\n  L1 distance 512×512×512\n"


def test_a_page_needs_results(tmp_path):
    with pytest.raises(SystemExit, match="there is no"):
        command.main(["--docs", "--out", str(tmp_path)])


def test_more_work_is_forecast_to_take_longer():
    rows = command.parse(["matmul 512"]).chosen
    few = run.Choice(rows, ["torch"], 7).forecast()
    assert few < run.Choice(rows, ["torch"], 15).forecast()
    assert few < run.Choice(rows, ["torch", "numpy"], 7).forecast()
    assert few < run.Choice(rows, ["torch"], 7, kernels=(10_000,)).forecast()


def test_each_step_is_told_with_what_is_left(monkeypatch, capsys):
    seconds = iter([0.0, 10.0])
    monkeypatch.setattr("benchmarks.progress.time.monotonic", lambda: next(seconds))
    tell = lines(5)
    tell("first")
    tell("second")
    assert capsys.readouterr().err == "[1/5] first\n[2/5, about 40 s left] second\n"


def test_the_extra_has_what_a_run_uses():
    packages = " ".join(EXTRAS["bench"])
    assert all(name in packages for name in ("tinygrad", "scipy", "matplotlib", "rich"))


# ---- a GPU --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", gpu.rows(shrink=64), ids=lambda case: case.name)
def test_a_row_for_a_gpu_means_the_same_to_us_and_to_pytorch(case):
    pytest.importorskip("torch")
    run.check(gpu.ours(case, waits=True).results(), gpu.pytorchs(case, "cpu").results())


def test_one_device_is_measured_beside_pytorch_with_a_mark_where_that_has_no_gpu(monkeypatch):
    monkeypatch.setenv("CUDA_EMULATE", "1")
    name, ours, speed, theirs, ratio = devices.cells_of("add 1,000", "CUDA", 3)
    assert (name, ratio) == ("add 1,000", "") and "GB/s" in speed and float(ours) > 0
    assert theirs in (ABSENT, NOT_HERE)


def test_a_page_keeps_the_rows_of_other_cards(tmp_path, monkeypatch):
    page = tmp_path / "gpu.md"
    page.write_text(f"# Title\n\n{report.BEGIN}\n\n{report.END}\n\nThe end.\n")
    for card, took in (("A", "1.00"), ("B", "2.00"), ("A", "3.00")):
        monkeypatch.setattr(gpu, "card_and_driver", lambda card=card: (card, "570"))
        gpu.fill_page(page, [["add", took, "", "4.00", "1.5"], ["sum", "5.00", "", "–", ""]])
    table = [line for line in page.read_text().splitlines() if line.startswith("|")]
    assert [line.split(" | ")[:2] for line in table[2:]] == [
        ["| add", "3.00"], ["| sum", "5.00"], ["| add", "2.00"], ["| sum", "5.00"]]  # fmt: skip
    assert page.read_text().startswith("# Title") and page.read_text().endswith("The end.\n")
