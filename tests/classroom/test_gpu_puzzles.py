"""Kernels without a GPU: worked ones are right and at par, wrong ones are told where, and nothing
that a kernel does reaches this process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from classroom.cuda import running
from classroom.cuda.beside import planned
from classroom.cuda.drawn import accesses, fetched, groups, lines_of
from classroom.cuda.judging import Judgement
from classroom.cuda.lesson import PLAIN, launch, launched, on_a_gpu, side_by_side
from classroom.cuda.running import SECONDS, Launch, NotCompiled, Run, runs
from classroom.cuda.source import Kernel, body_of, marked
from classroom.exercise import Outcome, Wrong, judge
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games.gpu import GAME, KernelTrial
from tests.devices import c_compilers
from tinyframe import Context, Device, Tensor
from tinyframe.device import CompileError
from tinyframe.runtime.clang import find_compiler

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "solutions" / "course" / "08c_a_gpu_without_a_gpu.ipynb"
BY_NAME = {puzzle.name: puzzle for puzzle in GAME.puzzles}

every_puzzle = pytest.mark.parametrize("name", BY_NAME)


def cells(kind: str) -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


def worked_answers() -> dict[str, str]:
    """The texts of the worked notebook."""
    found = {}
    for source in cells("code"):
        if written := re.search(r'^(\w+) = """\n(.*?)"""\npuzzle\("\1"', source, re.M | re.S):
            found[written[1]] = written[2]
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


def test_the_notebook_has_every_puzzle_in_order():
    assert list(WORKED) == list(BY_NAME)
    assert len(BY_NAME) == 12


@every_puzzle
def test_the_worked_answer_is_right_and_at_par(name):
    outcome, trial = tried(name, WORKED[name])
    assert outcome.state == "right", outcome.text
    assert trial.score == BY_NAME[name].par
    assert "That is par" in outcome.text
    assert trial.picture() is not None


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


# ---- better, and unusual -------------------------------------------------------------------------

SHARED_BROADCAST = """
__shared__ float left[4], top[4];
int x = threadIdx.x, y = threadIdx.y;
if (x == 0 && y < rows) left[y] = a[y];
if (y == 0 && x < columns) top[x] = b[x];
__syncthreads();
if (x < columns && y < rows) out[y * columns + x] = left[y] + top[x];
"""

# Up a tree and down again, which is a different way from the worked one.
UP_AND_DOWN = """
__shared__ float s[32];
int i = threadIdx.x;
float own = i < n ? a[i] : 0;
s[i] = own;
__syncthreads();
for (int far = 1; far < 32; far *= 2) {
  if ((i + 1) % (2 * far) == 0) s[i] += s[i - far];
  __syncthreads();
}
if (i == 31) s[i] = 0;
__syncthreads();
for (int far = 16; far > 0; far /= 2) {
  if ((i + 1) % (2 * far) == 0) {
    float left = s[i - far];
    s[i - far] = s[i];
    s[i] += left;
  }
  __syncthreads();
}
if (i < n) out[i] = s[i] + own;
"""

RIGHT = [
    ("map", "out[threadIdx.x] = a[threadIdx.x] + 10;"),
    ("map", "__global__ void add(float* out, const float* a) {\n  int i = threadIdx.x;\n"
            "  out[i] = 10 + a[i];\n}\n"),
    ("map", "*(out + threadIdx.x) = *(a + threadIdx.x) + 10;"),
    ("map", "const unsigned i = threadIdx.x; /* a[9] */ float x[2] = {a[i], 10}; // out[9]\n"
            "out[i] = x[0] + x[1];"),
    ("guard", "if (threadIdx.x >= n) return;\nout[threadIdx.x] = a[threadIdx.x] + 10;"),
    ("guard", "for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[i] + 10;"),
    ("two_d", "int i = threadIdx.y * columns + threadIdx.x;\n"
              "if (threadIdx.x < columns) if (threadIdx.y < rows) out[i] = a[i] + 10;"),
    ("two_d", WORKED["two_d"].replace("y * columns + x", "x * rows + y")),  # each is somebody's
    ("broadcast", SHARED_BROADCAST),
    ("blocks", "#define I (blockIdx.x * 8 + threadIdx.x)\nif (I < n) out[I] = powf(a[I], 2);"),
    ("blocks", "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) out[i] = a[i] * a[i];"),
    ("shared", WORKED["shared"].replace("s[8]", "s[8], unused[2][3]")),
    ("shared", WORKED["shared"].replace("float s[8];", "float s\n[8];")),
    ("pooling", "int i = threadIdx.x;\nfloat sum = 0;\n"
                "for (int k = max(i - 2, 0); k <= i && i < n; k++) sum += a[k];\n"
                "if (i < n) out[i] = sum;"),
    ("prefix_sum", UP_AND_DOWN),
    ("convolution", "int i = blockIdx.x * 8 + threadIdx.x;\nif (i >= n) return;\nfloat sum = 0;\n"
                    "for (int k = 0; k < 3 && i + k < n; k++) sum += a[i + k] * w[k];\n"
                    "out[i] = sum;"),
    ("tiled_matmul", "int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;\n"
                     "if (x >= n || y >= n) return;\nfloat sum = 0;\n"
                     "const float* row = a + y * n;\n"
                     "for (int k = 0; k < n; k++) sum += row[k] * b[k * n + x];\n"
                     "out[y * n + x] = sum;"),
]  # fmt: skip


@pytest.mark.parametrize("name, answer", RIGHT)
def test_right_answers_that_are_not_the_worked_one(name, answer):
    outcome, _ = tried(name, answer)
    assert outcome.state == "right", outcome.text


def test_every_dare_can_be_met():
    better = {"broadcast": SHARED_BROADCAST}
    for name, puzzle in BY_NAME.items():
        outcome, trial = tried(name, better.get(name, WORKED[name]))
        assert trial.score == puzzle.best, name
        assert "no better way" in outcome.text
    assert {name for name, puzzle in BY_NAME.items() if puzzle.best < puzzle.par} == set(better)


def test_a_number_that_is_read_twice_is_counted_twice():
    (_, twice), (_, once) = (tried("blocks", text) for text in (RIGHT[10][1], WORKED["blocks"]))
    assert (twice.score, once.score) == (2, 1)


# ---- wrong ---------------------------------------------------------------------------------------


def but(name: str, old: str, new: str) -> str:
    """The worked answer with a change."""
    assert old in WORKED[name]
    return WORKED[name].replace(old, new)


LOOP = "out[0] = 0; for (int i = 0; i < 10; i--) out[0] = 0;"
# name of a puzzle, a wrong answer, what is said about it
WRONG = [
    ("map", but("map", "+ 10", "+ 11"), "Every value is 1 too large"),
    ("map", "out[0] = a[0] + 10;", "7 elements of `out` were never written. The first is `out[1]`"),
    ("map", "int i = threadIdx.x;\nout[i] = a[j] + 10;", "line 2"),
    ("map", but("map", "a[i] + 10;", "a[i] + 10"), "doesn't understand"),
    ("map", "for (int i = 0; i < 8; i++) out[i] = a[i] + 10;", "one at most"),
    ("map", "int i = 1;", "Nothing was written"),
    ("map", "int i = threadIdx.x;\nout[i + 1] = a[i] + 10;", "writes `out[8]`, and `out` has 8"),
    ("map", "int i = threadIdx.x;\nout[i] = a[i - 1] + 10;", "an array starts at 0"),
    ("map", "int i = threadIdx.x;\nout[i] = a[i * 1000000];", "far outside of every array"),
    ("map", "if (threadIdx.x == 0) { out[0] = 1;", "1 `{` and only 0 `}`"),
    ("map", LOOP, "a loop that never ends"),
    ("map", "out[threadIdx.x] = a[0];\n__builtin_trap();", "It crashed"),
    ("map", "#include <math.h>\nout[0] = 1;", "Leave out `#include`"),
    ("map", "atomicAdd(out, 1);", "Atomic"),
    ("map", "extern __shared__ float s[];\ns[0] = 1;", "Give a shared array its size"),
    ("map", "__syncwarp();\nout[0] = 1;", "the emulator doesn't know `__syncwarp`"),
    ("map", lambda a: a + 10, "between triple quotes"),
    ("guard", WORKED["map"], "Thread 5 reads `a[5]`, and `a` has 5 elements"),
    ("guard", but("guard", "i < n", "i <= n"), "Thread 5 reads `a[5]`"),
    ("guard", but("guard", "i < n", "i < n - 1"), "`out[4]` was never written"),
    ("guard", "if (threadIdx.x == 0) for (int i = 0; i < n; i++) out[i] = a[i] + 10;",
     "each thread writes one at most"),
    ("two_d", but("two_d", "y * columns + x", "y * rows + x"), ""),
    ("two_d", but("two_d", "x < columns && y < rows", "x < columns"), "Thread (0, 3)"),
    ("two_d", but("two_d", "y < rows", "y < columns"), "and `a` has"),
    ("two_d", but("two_d", "y * columns + x", "y * 4 + x"), ""),
    ("broadcast", but("broadcast", "a[y] + b[x]", "a[x] + b[y]"), "it should be"),
    ("broadcast", but("broadcast", "a[y] + b[x]", "a[y] * b[x]"), "it should be"),
    ("broadcast", but("broadcast", "x < columns && ", ""), ""),
    ("broadcast", SHARED_BROADCAST.replace("__syncthreads();", ""), "A race"),
    ("blocks", but("blocks", "blockIdx.x * blockDim.x + ", ""), "The first is `out[8]`"),
    ("blocks", but("blocks", "if (i < n)", ""), "of block 1 reads `a[15]`"),
    ("blocks", but("blocks", "x * x", "x + x"), "it should be"),
    ("blocks", but("blocks", "* blockDim.x", "* 9"), "`out[8]` was never written."),
    ("shared", but("shared", "__syncthreads();", ""), "A race"),
    ("shared", but("shared", "i < n ? a[i] : 0", "a[i]"), "of block 1 reads `a[15]`"),
    ("shared", but("shared", "k < 8", "k < 7"), "it should be"),
    ("shared", but("shared", "__syncthreads();", "if (i < n) __syncthreads();"), "A race"),
    ("pooling", but("pooling", "if (i > 0)", ""), "reads `s[-1]`, and an array starts at 0"),
    ("pooling", but("pooling", "__syncthreads();", ""), "A race"),
    ("pooling", but("pooling", "i - 2", "i - 1"), "it should be"),
    ("pooling", but("pooling", "__syncthreads();", "if (i > n) return;\n__syncthreads();"), ""),
    ("dot", "if (threadIdx.x == 0) {\n  float sum = 0;\n  for (int k = 0; k < n; k++) "
            "sum += a[k] * b[k];\n  out[0] = sum;\n}", "nothing went through shared memory"),
    ("dot", but("dot", "half = 8", "half = 4"), "it should be"),
    ("dot", but("dot", "if (i == 0) out", "out"), "16 threads write `out[0]`"),
    ("dot", but("dot", "  __syncthreads();\n}", "}"), "A race"),
    ("dot", but("dot", "if (i < half) s[i] += s[i + half];\n  __syncthreads();",
                "if (i < half) { s[i] += s[i + half]; __syncthreads(); }"), "waits at the barrier"),
    ("dot", "out[0] += a[threadIdx.x] * b[threadIdx.x];", "A race"),
    ("prefix_sum", but("prefix_sum", "  __syncthreads();\n  s[i] += left;", "  s[i] += left;"),
     "A race"),
    ("prefix_sum", but("prefix_sum", "far < 32", "far < 16"), "it should be"),
    ("prefix_sum", "__shared__ float s[32];\nint i = threadIdx.x;\nif (i < n) s[i] = a[i];\n"
                   "__syncthreads();\nfloat sum = 0;\nfor (int k = 0; k <= i; k++) sum += s[k];\n"
                   "if (i < n) out[i] = sum;", "A tree needs fewer"),
    ("axis_sum", but("axis_sum", "k += 16", "k += 8"), "it should be"),
    ("axis_sum", but("axis_sum", "blockIdx.x * columns + k", "k"), "it should be"),
    ("axis_sum", but("axis_sum", "out[blockIdx.x]", "out[0]"), "in different blocks"),
    ("convolution", but("convolution", "t < 2", "t < 1"), "nobody has written to"),
    ("convolution", but("convolution", "s[10]", "s[8]"), "and `s` has 8 elements"),
    ("convolution", but("convolution", "i + 8 < n ? a[i + 8] : 0", "a[i + 8]"), "reads `a[17]`"),
    ("convolution", but("convolution", "v[t] = w[t]", "v[t] = w[2 - t]"), "it should be"),
    ("convolution", but("convolution", "__syncthreads();", ""), "A race"),
    ("tiled_matmul", but("tiled_matmul", "  __syncthreads();\n}", "}"), "A race"),
    ("tiled_matmul", but("tiled_matmul", "at[y][j] * bt[j][x]", "at[j][y] * bt[j][x]"), "should"),
    ("tiled_matmul", but("tiled_matmul", "row < n && k + x < n ? a", "row < n ? a"), ""),
    ("tiled_matmul", but("tiled_matmul", "row < n && column < n) out", "row < n) out"), ""),
]  # fmt: skip


@pytest.mark.parametrize("name, answer, said", WRONG)
def test_wrong_answers_are_told_what_is_wrong(name, answer, said):
    outcome, _ = tried(name, answer)
    assert outcome.state == "wrong", outcome.text
    assert said in outcome.text or said in str(outcome.rows), (outcome.text, outcome.rows)


@every_puzzle
def test_each_puzzle_has_planted_wrong_answers(name):
    assert sum(planted == name for planted, *_ in WRONG) >= 3


def test_a_race_is_told_with_both_threads_and_both_lines():
    outcome, trial = tried("pooling", but("pooling", "__syncthreads();\n", ""))
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


# ---- what memory delivers ------------------------------------------------------------------------


@pytest.mark.parametrize("step, lines", [(1, 1), (2, 2), (3, 3), (32, 32)])
def test_lines_are_counted_and_drawn(step, lines):
    run = ran(f"out[threadIdx.x] = a[threadIdx.x * {step}];", threads=32, a=np.zeros(1024),
              out=np.zeros(32))  # fmt: skip
    (group,) = groups(run, "a", is_write=False)
    assert len(lines_of(group)) == lines
    assert f"{lines} line" in str(fetched(run, "a"))
    assert "1 line moves" in str(fetched(run, "out", stores=True))


# ---- tinyframe's, and a real GPU -----------------------------------------------------------------


def test_tinyframes_kernel_computes_the_same():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (20, 20)).astype(np.float32) for _ in range(2))
    kernel, launch = planned(lambda a, b: b @ a, {"a": a, "b": b})  # in whatever order it takes
    (run,) = runs(kernel, [launch])
    assert run.trouble is None
    assert np.array_equal(next(iter(run.arrays.values())), b @ a)


def test_side_by_side_counts_both(capsys):
    text = str(side_by_side("tiled_matmul", WORKED["tiled_matmul"]))
    assert "With your kernel." in capsys.readouterr().out
    mine, theirs = re.findall(r"for each result: ([\d.]+) \| ([\d.]+)", text)[0]
    assert float(mine) == 32 > float(theirs)
    side_by_side("axis_sum", ...)
    assert "With a plain kernel" in capsys.readouterr().out


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
    naive = [answer for name, answer in RIGHT if name == "tiled_matmul"][0]
    on_a_gpu(naive, n=9)
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


def test_tensor_is_what_the_notebook_compares_with():
    run = ran("int i = threadIdx.x;\nout[i] = 2 * a[i];", threads=10, a=range(10))
    assert (Tensor.arange(10) * 2).numpy().tolist() == run.arrays["out"].tolist()
