"""Traces: what a Recorder writes is what the compiler did, and what a reader makes of it."""

from __future__ import annotations

import io
import json
import math
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import rows_of
from tinyframe import Context, Tensor, TinyJit, dtypes
from tinyframe.observe import observing
from tinyframe.uop.node import AxisType, Ops, UOp
from tinyframe.viz.explorer.record import Recorder, shown_file
from tinyframe.viz.explorer.rows import Rows, Step, Table, after_steps, decoded, encoded
from tinyframe.viz.explorer.store import Store, TraceError
from tinyframe.viz.explorer.trace import Trace
from tinyframe.viz.nodes import of_graph


def watched(work) -> Trace:
    recorder = Recorder(Store.temporary(), ["script.py"])
    with observing(recorder):
        work()
    return Trace(recorder.store, recorder.overview)


def softmax_and_product() -> None:
    x = Tensor.arange(24).reshape(4, 6).cast(dtypes.float32)
    w = Tensor.ones(6, 5).contiguous()
    (x.softmax(1) @ w).realize()


@pytest.fixture(scope="module")
def trace() -> Trace:
    return watched(softmax_and_product)


def test_every_kernel_that_ran_is_in_it(trace) -> None:
    about = trace.overview
    ran = [r for n in range(len(about["realizes"])) for r in trace.realize(n)["ran"]]
    assert ran and all(r["end"] >= r["begin"] for r in ran)
    assert {r["kernel"] for r in ran} == set(range(len(about["kernels"])))
    assert sum(k["runs"] for k in about["kernels"]) == len(ran)


def test_kernels_and_realizes_know_their_line(trace) -> None:
    about = trace.overview
    texts = {text for _, _, text in about["lines"]}
    assert "(x.softmax(1) @ w).realize()" in texts
    for kernel in about["kernels"]:
        assert kernel["lines"], kernel["name"]
    for realize in about["realizes"]:
        assert about["lines"][realize["line"]][2].endswith(".realize()")


def test_source_and_stages_are_the_compilers(trace) -> None:
    for n, kernel in enumerate(trace.overview["kernels"]):
        described = trace.described(f"kernel/{n}")
        assert f"{kernel['function']}(" in described.data["source"]
        names = [stage.name for stage in described.stages]
        assert names[:3] == ["simplify", "canonicalize loops", "optimize"]
        assert names[-1] == "linearize"
        assert isinstance(described.stages[-1].after, list)


def test_all_rewrites_of_a_pass_give_what_the_compiler_gave(trace) -> None:
    replayed = 0
    names = [f"kernel/{n}" for n in range(len(trace.overview["kernels"]))]
    names += [f"schedule/{n}" for n in range(trace.overview["schedules"])]
    for name in names:
        described = trace.described(name)
        for stage in described.stages:
            for rewrite in stage.rewrites:
                out = after_steps(described.rows, rewrite.before, rewrite.steps, rewrite.walk)
                assert out is rewrite.after, (name, stage.name, rewrite.name)
                replayed += len(rewrite.steps)
    assert replayed > 50


def test_each_loop_nest_of_a_schedule_is_named_by_its_kernel(trace) -> None:
    described = trace.described(f"schedule/{trace.overview['schedules'] - 1}")
    names = [stage.name for stage in described.stages]
    assert names[:3] == ["tensor graph", "prepare", "kernels"]
    count = len(described.data["kernels"])
    assert sorted(names[3:]) == [f"lower kernel {n} to ranges" for n in range(1, count + 1)]
    assert len({*described.boxes.values()}) == count
    assert all(kernel["words"] for kernel in described.data["kernels"])


def test_a_kernel_that_runs_again_also_from_a_jit_is_described_once() -> None:
    @TinyJit
    def double(x: Tensor) -> Tensor:
        return (x * 2).realize()

    def work() -> None:
        for n in range(5):
            assert double(Tensor([n, 1.0]).realize()).tolist() == [2.0 * n, 2.0]

    about = watched(work).overview
    assert max(k["runs"] for k in about["kernels"]) == 5
    assert len({k["name"] for k in about["kernels"]}) == len(about["kernels"])


def test_what_runs_after_a_kernel_that_could_not_be_compiled_is_in_it(monkeypatch) -> None:
    from tinyframe import codegen

    def broken(*args) -> list:
        raise RuntimeError("no source")

    def work() -> None:
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="no source"):
            patch.setattr(codegen, "linearize", broken)
            (Tensor([1.0, 2.0, 5.0]).contiguous() * 7).realize()
        (Tensor([1.0, 2.0, 5.0]).contiguous() + 9).realize()

    trace = watched(work)
    last = trace.overview["realizes"][-1]
    described = trace.described(f"schedule/{last['schedule']}")
    assert [stage.name for stage in described.stages][:2] == ["tensor graph", "prepare"]
    assert trace.described(f"kernel/{last['ran'][-1][0]}").stages[-1].name == "linearize"


def test_a_node_knows_its_line_also_where_its_inputs_were_computed_meanwhile() -> None:
    def work() -> None:
        w = Tensor.ones(4, 4).contiguous() + 1
        x = Tensor.ones(4, 4).contiguous().realize()
        y = x * w
        w.realize()
        z = y.T - 3
        z.realize()

    trace = watched(work)
    about = trace.overview
    schedules = [trace.described(f"schedule/{n}") for n in range(about["schedules"])]
    known = (row for d in schedules for row in d.rows if row.line is not None)
    found = {(row.op.name, about["lines"][row.line][2]) for row in known}
    assert {("MUL", "y = x * w"), ("PERMUTE", "z = y.T - 3")} <= found
    assert ("MUL", "z.realize()") not in found


def test_what_the_compiler_makes_of_a_node_belongs_to_its_line() -> None:
    def work() -> None:
        x = Tensor.arange(64).reshape(8, 8).float().contiguous().realize()
        y = x.exp()
        z = y.sum(1)
        z.realize()

    trace = watched(work)
    lines = trace.overview["lines"]
    described = trace.described(f"kernel/{len(trace.overview['kernels']) - 1}")
    for stage in described.stages:
        rows = {r for root in stage.roots for r in root.toposort() if r.line is not None}
        texts = {lines[r.line][2] for r in rows}
        assert "y = x.exp()" in texts, stage.name  # EXP2, or what it is decomposed into
        for row in rows:
            assert row.op is not Ops.REDUCE or lines[row.line][2] == "z = y.sum(1)"
            assert row.op not in (Ops.RANGE, Ops.INDEX, Ops.CONST)


def test_a_reader_follows_rules_that_replace_before_the_sources() -> None:
    x = UOp.variable("x", 0, 9)
    table = Table()
    numbers = [table.number(u) for u in (x + 1, x * 2, (x + 1) * (x + 1), (x * 2) * (x * 2))]
    rows = Rows(table.rows)
    add, twice, square, result = (rows[n] for n in numbers)
    assert after_steps(rows, square, [Step(0, add, twice)], False) is result
    assert after_steps(rows, square, [], False) is square
    assert after_steps(rows, square, [Step(0, square, add), Step(1, add, twice)], False) is twice
    assert after_steps(rows, square, [Step(0, square, add), Step(1, add, twice)], True) is add


def test_rows_are_drawn_as_the_uops_that_they_were() -> None:
    x = Tensor.empty(8, 6)
    y = (x.pad(((1, 2), (0, 0))).softmax(1) @ Tensor.empty(6, 5)).flip(0)
    asts = [item.ast for item in y.schedule()]
    for ast, row in zip(asts, rows_of(*asts), strict=True):
        assert of_graph([row]) == of_graph([ast])


@pytest.mark.parametrize("file, shown", [
    ("/tmp/ipykernel_123/45678.py", "cell"), ("<ipython-input-3-abc>", "cell"),
    ("/home/me/ipykernel_notes/train.py", "/home/me/ipykernel_notes/train.py"),
    ("train.py", "train.py"), ("<stdin>", "<stdin>"),
])  # fmt: skip
def test_the_file_of_a_notebooks_cell_is_called_a_cell(file, shown) -> None:
    assert shown_file(file) == shown


# ---- arguments -----------------------------------------------------------------------------------

SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from([*AxisType, Ops.ADD, Ops.MAX]),
)  # fmt: skip


@given(st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8))
def test_arguments_survive(arg) -> None:
    back = decoded(json.loads(json.dumps(encoded(arg))))
    assert repr(back) == repr(arg)
    if isinstance(arg, float) and not math.isnan(arg):
        assert back == arg


@pytest.mark.parametrize("data", [
    {"enum": ["os", "system"]}, {"enum": ["Ops", "NONE"]}, {"float": "1e999999"}, {"text": 3}, {},
    [{"eval": "1"}],
])  # fmt: skip
def test_arguments_that_nothing_gives_are_refused(data) -> None:
    with pytest.raises(ValueError, match="not an argument"):
        decoded(data)


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(trace, tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "run.trace"
    trace.store.save(path, trace.overview)
    return path


def test_a_file_holds_what_was_recorded(trace, file) -> None:
    again = Trace.open(file)
    assert again.overview == trace.overview
    assert again.described("kernel/0").data == trace.described("kernel/0").data
    assert again.store.raw("binary/0") == trace.store.raw("binary/0")


def zipped(_: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("readme", "hello")
    return archive.getvalue()


NO_TRACE = "is not a tinyframe trace"
WRONG_FILES = {
    "2 bytes": (lambda data: data[:2], "cut short"),
    "100 bytes": (lambda data: data[:100], "cut short"),
    "half": (lambda data: data[: len(data) // 2], "cut short"),
    "but 30 bytes": (lambda data: data[:-30], "cut short"),
    "nothing": (lambda _: b"", NO_TRACE),
    "a text": (lambda _: b"hello", NO_TRACE),
    "a profile": (lambda _: b'{"traceEvents": []}', NO_TRACE),
    "zeros": (lambda _: bytes(200), NO_TRACE),
    "an archive": (zipped, "different archive"),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_a_file_that_is_no_trace_or_half_of_one_says_so(name, file, tmp_path) -> None:
    change, words = WRONG_FILES[name]
    (tmp_path / "wrong").write_bytes(change(file.read_bytes()))
    with pytest.raises(TraceError, match=words):
        Trace.open(tmp_path / "wrong")


def test_a_trace_of_another_version_or_with_a_damaged_member_says_so(trace, file, tmp_path) -> None:
    trace.store.save(tmp_path / "old", {**trace.overview, "version": 0})
    with pytest.raises(TraceError, match="a different version of tinyframe"):
        Trace.open(tmp_path / "old")
    with zipfile.ZipFile(file) as archive:
        at = archive.getinfo("kernel/0").header_offset + 60
    data = bytearray(file.read_bytes())
    data[at : at + 40] = bytes(40)
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(TraceError, match="damaged"):
        Trace.open(tmp_path / "bad").described("kernel/0")


def test_a_member_that_says_what_cannot_be_is_refused(trace, tmp_path) -> None:
    for row in (["ADD", "int", [0, 7], None, None, None, None], ["OS", "int", [], 0, 0, 0, 0], 3):
        store = Store.temporary()
        store.write("kernel/0", {"rows": [row], "stages": []})
        with pytest.raises(TraceError, match="makes no sense"):
            Trace(store, dict).described("kernel/0")


def test_saving_where_that_is_impossible_leaves_no_half_file(trace, tmp_path) -> None:
    with pytest.raises(OSError):
        trace.store.save(tmp_path / "missing" / "run.trace", trace.overview)
    assert not list(tmp_path.iterdir())


def test_the_search_for_opts_is_not_recorded() -> None:
    def work() -> None:
        with Context(BEAM=1):
            (Tensor.ones(16, 16).contiguous() * 2).realize()

    assert len(watched(work).overview["kernels"]) <= 4
