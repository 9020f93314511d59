"""Kernels without a GPU: what is drawn of them and counted, and nothing that a kernel does reaches
this process. What answers are told is planted beside each puzzle (test_answers.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from classroom.cuda import running
from classroom.cuda.beside import planned
from classroom.cuda.drawn import accesses, fetched
from classroom.cuda.judging import Judgement
from classroom.cuda.lesson import PLAIN, launch, launched, on_a_gpu
from classroom.cuda.running import SECONDS, Launch, NotCompiled, Run, runs
from classroom.cuda.source import Kernel, body_of, marked
from classroom.exercise import Outcome, Wrong, judge
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games.gpu import GAME, KernelTrial
from tests.devices import c_compilers
from tinyframe import Context, Device
from tinyframe.device import CompileError
from tinyframe.runtime.clang import find_compiler

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "solutions" / "course" / "08c_a_gpu_without_a_gpu.ipynb"
BY_NAME = {puzzle.name: puzzle for puzzle in GAME.puzzles}

every_puzzle = pytest.mark.parametrize("name", BY_NAME)


def cells(kind: str) -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


WRITTEN = re.compile(r'^(\w+) = """\n(.*?)"""\npuzzle\("(\w+)", \1\)', re.MULTILINE | re.DOTALL)


def worked_answers() -> dict[str, str]:
    """The texts of the worked notebook."""
    found = {}
    for source in cells("code"):
        if found_here := WRITTEN.search(source):
            _, text, name = found_here.groups()
            found[name] = text
    return found


WORKED = worked_answers()


def tried(name: str, answer: object) -> tuple[Outcome, KernelTrial]:
    trial = BY_NAME[name].trial()
    return judge(exercise_of(BY_NAME[name], trial.check), answer), trial


def ran(text: str, **given: object) -> Run:
    run = launch(text, **given)  # type: ignore[arg-type]
    assert run is not None
    return run


# ---- the worked notebook -------------------------------------------------------------------------


@every_puzzle
def test_the_notebook_states_the_arguments(name):
    (told,) = [text for text in cells("markdown") if text.startswith(f"**{name}.**")]
    assert f"`{BY_NAME[name].task.parameters}`" in told


@every_puzzle
def test_without_an_answer_the_example_is_drawn(name):
    for nothing in (..., "\n...\n", "", "// not yet\n"):
        assert tried(name, nothing)[0].state == "open"
    assert "what has to come out" in str(BY_NAME[name].example())


def test_what_is_put_beside_tinyframe_gives_no_answer_away():
    """It computes what is asked for, and is refused or far over par."""
    for name, text in PLAIN.items():
        outcome, trial = tried(name, text)
        assert trial.score is None or trial.score > 3 * BY_NAME[name].par
        assert "numbers are right" in outcome.text or outcome.state == "right"
        assert "__shared__" not in text


# ---- wrong ---------------------------------------------------------------------------------------


def test_a_race_is_told_with_both_threads_and_both_lines():
    outcome, trial = tried("pooling", WORKED["pooling"].replace("__syncthreads();", ""))
    assert re.search(r"Thread \d \(line \d\) (reads|writes) `s\[\d\]`, and thread \d \(line \d\)",
                     outcome.text)  # fmt: skip
    assert sum(label.startswith("your line") for label, _ in outcome.rows) == 2
    assert "!" in str(trial.picture())  # the element is marked


def test_who_was_beyond_the_end_is_drawn_there():
    _, trial = tried("guard", WORKED["map"])
    picture = trial.picture()
    assert picture is not None
    assert "  a: r0 r1 r2 r3 r4 .!" in str(picture)
    assert "stroke-dasharray" in picture.svg()


def test_a_compile_error_is_the_compilers_words_and_the_learners_line():
    outcome, _ = tried("map", "int i = threadIdx.x;\n\nout[i] = a[j] + 10;")
    assert "j" in outcome.text and "emulated" not in outcome.text
    assert outcome.rows == (("your line 3", "`out[i] = a[j] + 10;`"),)


# ---- running -------------------------------------------------------------------------------------


def test_what_a_kernel_does_is_over_in_time():
    kernel = Kernel("float* out", "while (true) out[0] = 1;")
    (run,) = runs(kernel, [Launch((1,), (1,), {"out": np.zeros(1, np.float32)})], seconds=1)
    assert run.trouble is not None and run.trouble.kind == "slow"
    assert f"{SECONDS}" not in run.trouble.text and "after 1 second" in run.trouble.text


def test_launches_after_one_with_trouble_are_not_told():
    kernel = Kernel("float* out, int n", "out[n] = 1;")
    out = np.zeros(4, np.float32)
    found = runs(kernel, [Launch((1,), (1,), {"out": out, "n": n}) for n in (1, 9, 2)])
    assert [run.trouble.kind if run.trouble else "" for run in found] == ["", "bounds"]
    assert found[0].arrays["out"].tolist() == [0, 1, 0, 0]
    assert not out.any()


def test_accesses_are_counted_as_they_are_written():
    text = "float x = a[0] * a[0];\nx = x * a[1] + a[1];\nout[0] = x;"
    run = ran(text, threads=4, a=[1, 2])
    assert run.loads() == 4 * 4
    assert np.bincount(run.log["line"]).tolist() == [0, 8, 8, 4]


def test_phases_are_numbered_from_each_blocks_beginning():
    run = ran("out[blockIdx.x] = 1;\n__syncthreads();\nfloat x = a[0];", blocks=3,
              threads=2, a=[1, 2, 3])  # fmt: skip
    assert {(int(a["line"]), int(a["phase"])) for a in run.log} == {(1, 0), (3, 1)}


@pytest.mark.parametrize(
    "written, expected",
    [
        ("out[i] = a[i];", "L out)[i] = L a)[i];"),
        ("float w[3] = {1, a[2]}, v[2];", "float w[3] = {1, L a)[2]}, v[2];"),
        ("__shared__ float s[8];", "__shared__ float s[8];"),
        ("const float* p = a + 1; p[0];", "const float* p = a + 1; L p)[0];"),
        ("return a[0];", "return L a)[0];"),
        ("x = y * a[1], b[2] = 3;", "x = y * L a)[1], L b)[2] = 3;"),
        ("float x = f(a[1], b[2]);", "float x = f(L a)[1], L b)[2]);"),
        ("float4 v[2], w[2];", "float4 v[2], w[2];"),
        ("int64_t k[2], m[3];", "int64_t k[2], m[3];"),
        ("auto [x, y] = f();", "auto [x, y] = f();"),
        (
            "if (x) s[0] = (float)a[1]; else s[1]++;",
            "if (x) L s)[0] = (float)L a)[1]; else L s)[1]++;",
        ),
        ("float x = 1, *p = &a[2], v[3];", "float x = 1, *p = &L a)[2], v[3];"),
        ("tile[y][x] // a[3]", "L tile)[y][x] // a[3]"),
    ],
)
def test_each_use_of_an_array_says_its_line(written, expected):
    assert marked(written).replace("(emulated_line(__LINE__), ", "L ") == expected


def test_a_shared_array_of_two_axes_has_bounds_of_its_own():
    text = "__shared__ float s[2][3];\ns[threadIdx.x][0] = 1;\nout[0] = 2;"
    assert ran(text, threads=2, out=[0.0]).trouble is None
    trouble = ran(text, threads=3, out=[0.0]).trouble
    assert trouble is not None and "`s[2][0]`" in trouble.text


def test_a_block_may_use_as_many_threads_as_a_gpu_has():
    run = ran("out[threadIdx.x] = 1;", threads=1024, out=np.zeros(1024))
    assert run.trouble is None and run.arrays["out"].all()


@pytest.mark.parametrize("line", ("for (float x : s) sum += x;", "sum = sizeof s / sizeof *s;"))
def test_what_would_see_the_room_behind_an_array_is_not_judged(line):
    text = f"__shared__ float s[8];\nfloat sum = 0;\n{line}\nout[threadIdx.x] = sum;"
    outcome, _ = tried("map", text)
    assert outcome.state == "open" and "more room than you asked for" in outcome.text
    plain = text.replace(line, "for (int i = (n ? 0 : 1); i < sizeof(float); i++) sum += s[i];")
    assert "more room" not in tried("guard", plain)[0].text


def test_a_text_that_is_no_kernel_is_refused_in_words():
    with pytest.raises(ValueError, match="line 1"):
        launch("nonsense;", a=[1.0])
    with pytest.raises(NotCompiled):
        runs(Kernel("float* out", "out[0] = ;"), [])
    assert launch("...", a=[1.0]) is None and accesses(None) is None and fetched(None, "a") is None


def test_gcc_without_its_cpp_gives_way_to_zig_or_is_told(monkeypatch):
    """Where there is no zig either, nothing is held against the learner."""

    def refuses(self, src):
        raise CompileError("CUDA_EMULATE needs a C++ compiler, and none comes with this one")

    asked = []
    compile_cached = running._Compiler.compile_cached
    monkeypatch.setattr(running, "_zig", lambda: None)
    with monkeypatch.context() as without:
        without.setattr(running._Compiler, "compile_cached", refuses)
        outcome, _ = tried("map", WORKED["map"])
        assert outcome.state == "open" and "needs a C++ compiler" in outcome.text
        # What stands for zig is this machine's own compiler.
        here = find_compiler("")
        without.setattr(running, "_zig", lambda: here)

        def second(self, src):
            asked.append(self)
            return refuses(self, src) if len(asked) == 1 else compile_cached(self, src)

        without.setattr(running._Compiler, "compile_cached", second)
        assert tried("map", WORKED["map"])[0].state == "right"
    assert len(asked) == 2 and asked[1].cc.command == here


# What four threads do that copy four numbers each, or two; elements of out and of a that they wrote
# and read; and what is wrong with it. (A struct's copy is one instruction, a call, or four.)
COPIES = {
    "((float4*)out)[threadIdx.x] = ((float4*)a)[threadIdx.x];": (16, 16, None),
    "((float2*)out)[threadIdx.x] = ((float2*)a)[threadIdx.x];": (8, 8, None),
    "float4 v = ((float4*)a)[threadIdx.x];\n((float4*)out)[threadIdx.x] = v;": (16, 16, None),
    "((float4*)out)[threadIdx.x] = float4{};": (16, 0, None),
    "float x[4] = {};\nout[threadIdx.x] = x[3] + a[threadIdx.x];": (4, 4, None),
    "((float4*)out)[threadIdx.x] = ((float4*)a)[threadIdx.x + 1];": (16, 12, "`a[16]`"),
    "((float4*)out)[threadIdx.x + 1] = ((float4*)a)[threadIdx.x];": (12, 12, "`out[16]`"),
    "((float4*)out)[threadIdx.x / 2] = ((float4*)a)[threadIdx.x];": (8, 8, "A race"),
    "float4 v = {float(threadIdx.x), 1, 2, 3};\n((float4*)out)[0] = v;": (8, 0, "A race"),
    "__shared__ float s[16];\n((float4*)s)[threadIdx.x] = ((float4*)a)[threadIdx.x];\n"
    "((float4*)out)[threadIdx.x] = ((float4*)s)[3 - threadIdx.x];": (8, 8, "A race"),
}


@pytest.mark.parametrize("command", c_compilers())
def test_what_is_found_in_the_copy_of_a_vector_depends_on_no_compiler(command):
    found = {}
    with Context(CC=command):
        for text in COPIES:
            run = ran(text, threads=4, a=np.arange(16), out=np.zeros(16))
            writes = run.accesses_of("out")["is_write"].sum()
            found[text] = (writes, run.loads(), run.trouble and run.trouble.text)
    for text, (writes, reads, trouble) in COPIES.items():
        assert found[text][:2] == (writes, reads), text
        assert bool(found[text][2]) == bool(trouble) and (trouble or "") in str(found[text][2]), (
            text
        )


# ---- tinyframe's, and a real GPU -----------------------------------------------------------------


def test_tinyframes_kernel_computes_the_same():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (20, 20)).astype(np.float32) for _ in range(2))
    kernel, launch = planned(lambda a, b: b @ a, {"a": a, "b": b})  # in whatever order it takes
    (run,) = runs(kernel, [launch])
    assert run.trouble is None
    assert np.array_equal(next(iter(run.arrays.values())), b @ a)


def test_it_runs_on_tinyframes_cuda_device_as_it_is(monkeypatch, capsys):
    """With the emulator in a GPU's place."""
    monkeypatch.setenv("CUDA_EMULATE", "1")
    monkeypatch.setattr(Device, "_opened", {})
    kernel = Kernel("float* out, const float* a, int n", body_of(WORKED["shared"]))
    task = BY_NAME["shared"].task
    given = task.launch(task.example)
    arrays, seconds = launched(kernel, given)
    assert np.allclose(arrays["out"], task.expected(**task.example))
    assert seconds > 0
    on_a_gpu(PLAIN["tiled_matmul"], n=9)
    assert "stands in for a GPU. 9 × 9: right." in capsys.readouterr().out


def test_where_there_is_no_gpu_it_says_why(monkeypatch, capsys):
    monkeypatch.setattr(Device, "why_not", lambda name: "device CUDA: there is no driver")
    on_a_gpu(WORKED["tiled_matmul"])
    assert "there is no driver" in capsys.readouterr().out


def test_the_gpus_source_is_the_learners_text():
    kernel = Kernel("float* out", "out[0] = 1;  // mine")
    assert "out[0] = 1;  // mine" in kernel.cuda and "emulated" not in kernel.cuda


def test_a_judgement_keeps_the_launch_that_went_wrong():
    """Right for the example, wrong for other sizes."""
    judgement = Judgement(BY_NAME["guard"].task)
    with pytest.raises(Wrong, match="never written"):
        judgement.check("if (threadIdx.x < 5) out[threadIdx.x] = a[threadIdx.x] + 10;")
    assert judgement.loads is None and judgement.run is not None
    assert judgement.run.launch.arguments["n"] != 5
