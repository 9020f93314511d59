"""Six other frameworks: where each of our ten rooms is there, what they call things, who hands work
to whom. Pictures of it, and what part 10b asks about it.

    the_map(pins)              # ten rooms by seven frameworks, with a learner's pins
    six_hands()                # one expression, as each of them writes it down
    family()                   # who learned from whom, who hands kernels to whom
    words()                    # our words, and theirs

What is said of them was looked up in the versions of VERSIONS: files in their source, words in
their documentation (the addresses are at the end of 10b). The short texts in SIX were written for
the course, in the form in which each of them prints such a thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from classroom.tables import Table
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kinds import ARROW, MARKED, MARKED_TEXT, TEXT
from tinyframe.viz.picture import DrawnPicture

VERSIONS = {
    "tinyframe": "",
    "tinygrad": "0.14 (2026)",
    "Inductor": "PyTorch 2.13 (2026)",
    "Triton": "2026, main",
    "TVM": "2026, main",
    "JAX, XLA": "JAX 0.10 (2026), XLA main",
    "Halide": "2026, main",
}
# a room: what is done in it
ROOMS = {
    "tensor": "what you write your program with",
    "graph": "what you wrote, noted down before anything runs",
    "schedule": "which operations share a kernel",
    "IR": "what the nodes of the compiler are",
    "lowering": "whole arrays become loops over single numbers",
    "loops": "loops are split, reordered, vectorized",
    "code": "text or machine code is written",
    "CPU": "the simplest device: memory, and running",
    "GPU": "a GPU as a device",
    "layers": "Linear, Conv2d and such",
}
NONE = ""
OURS = "tinyframe"
MAP: dict[str, tuple[str, ...]] = {
    "tinyframe": (
        "tensor/core.py", "tensor/laziness.py", "schedule/fuse.py", "uop/node.py",
        "schedule/ranges.py", "codegen/optimize/loops.py", "renderer/cstyle.py", "runtime/cpu.py",
        "gpu/drivers/cuda.py", "nn/__init__.py",
    ),
    "tinygrad": (
        "tinygrad/tensor.py", "tinygrad/uop/ops.py", "tinygrad/schedule/rangeify.py",
        "tinygrad/uop/ops.py", "tinygrad/schedule/indexing.py",
        "tinygrad/codegen/opt/postrange.py", "tinygrad/renderer/cstyle.py",
        "tinygrad/runtime/ops_cpu.py", "tinygrad/runtime/ops_cuda.py", "tinygrad/nn/__init__.py",
    ),
    "Inductor": (
        "torch/_tensor.py", "torch/_dynamo/symbolic_convert.py", "torch/_inductor/scheduler.py",
        "torch/_inductor/ir.py", "torch/_inductor/lowering.py", "torch/_inductor/codegen/simd.py",
        "torch/_inductor/codegen/triton.py", "torch/_inductor/codegen/cpp.py",
        "torch/_inductor/runtime/triton_heuristics.py", "torch/nn/modules/linear.py",
    ),
    "Triton": (
        "python/triton/language/core.py", NONE, NONE,
        "include/triton/Dialect/Triton/IR/TritonOps.td", NONE,
        "lib/Dialect/TritonGPU/Transforms/Coalesce.cpp",
        "lib/Conversion/TritonGPUToLLVM/ElementwiseOpToLLVM.cpp",
        "python/triton/runtime/interpreter.py", "third_party/nvidia/backend/compiler.py", NONE,
    ),
    "TVM": (
        "python/tvm/relax/frontend/nn/core.py", "python/tvm/relax/expr.py",
        "src/relax/transform/fuse_ops.cc", "include/tvm/tirx/stmt.h",
        "python/tvm/relax/transform/legalize_ops/unary.py",
        "python/tvm/s_tir/schedule/schedule.py", "src/target/source/codegen_c.cc",
        "src/runtime/cpu_device_api.cc", "src/backend/cuda/runtime/cuda_device_api.cc",
        "python/tvm/relax/frontend/nn/modules.py",
    ),
    "JAX, XLA": (
        "jax/_src/numpy/lax_numpy.py", "jax/_src/interpreters/partial_eval.py",
        "xla/service/instruction_fusion.cc", "xla/hlo/ir/hlo_instruction.h",
        "xla/codegen/emitters/elemental_hlo_to_mlir.cc", NONE,
        "xla/backends/gpu/codegen/triton/fusion_emitter.cc",
        "xla/service/cpu/cpu_compiler.cc", "xla/service/gpu/gpu_compiler.cc", NONE,
    ),
    "Halide": (
        "src/Func.h", "src/Pipeline.cpp", "src/ScheduleFunctions.cpp", "src/IR.h",
        "src/Lower.cpp", "src/VectorizeLoops.cpp", "src/CodeGen_C.cpp", "src/JITModule.cpp",
        "src/runtime/cuda.cpp", NONE,
    ),
}  # fmt: skip

# ---- files to be pinned to the map ---------------------------------------------------------------

PINNED = {
    "torch/_inductor/scheduler.py": "takes nodes two at a time, and asks can_fuse",
    "src/VectorizeLoops.cpp": "a loop becomes one operation on vectors",
    "tinygrad/runtime/ops_cpu.py": "an allocator, a program that is called, a device",
    "jax/_src/interpreters/partial_eval.py": "calls your function with stand-ins for its arrays, "
    "and writes down what it does to them",
    "python/tvm/s_tir/schedule/schedule.py": "split, reorder, vectorize, unroll, bind",
    "xla/service/instruction_fusion.cc": "moves an instruction into the one that uses its result",
    "src/CodeGen_C.cpp": "writes a for, a brace, an indented line",
    "python/tvm/relax/transform/legalize_ops/unary.py": "for relax.exp of a tensor, a program with "
    "an exp of one number in it",
    "torch/nn/modules/linear.py": "a weight, a bias, and forward",
    "tinygrad/schedule/indexing.py": "reshape, permute and the like become sums and products of "
    "ranges",
}


def room_of(file: str) -> str:
    """The room that a file of MAP is in; of two, the first."""
    rooms = list(ROOMS)
    return next(rooms[files.index(file)] for files in MAP.values() if file in files)


def owner_of(file: str) -> str:
    return next(name for name, files in MAP.items() if file in files)


def strangers() -> Table:
    """The files to be pinned, by number."""
    rows = [
        (str(n), file, owner_of(file), what) for n, (file, what) in enumerate(PINNED.items(), 1)
    ]
    return Table(("", "file", "of", "what it does"), rows)


# ---- the map -------------------------------------------------------------------------------------

LEFT, ROW, TOP = 62.0, 33.0, 40.0  # points
FILL, EMPTY, RIGHT = "#e8eef7", "#ffffff", "#2f9e44"


def the_map(pins: Any = None) -> DrawnPicture:
    """Ten rooms by seven frameworks: the file that each room begins with. Those of PINNED are `?`
    until they have been pinned. pins: a learner's (`as_pins`); a right one is outlined in green, a
    wrong one stands where they put it."""
    pinned = as_pins(pins or {})
    sheet, said = Drawing(), ["ten rooms by seven frameworks"]
    width = (PAGE - LEFT) / len(MAP)
    for column, (name, files) in enumerate(MAP.items()):
        left = LEFT + column * width
        sheet.words(left + width / 2, 14, name, 11, anchor="middle", bold=True, colour=MUTED)
        version = VERSIONS[name].partition(",")[0]
        sheet.words(left + width / 2, 27, version, 6.5, anchor="middle", colour=MUTED)
        said += ["", f"{name} {VERSIONS[name]}".strip()]
        for row, (room, file) in enumerate(zip(ROOMS, files, strict=True)):
            right = pinned.get(file) == room
            shown = "?" if file in PINNED and not right else file
            _cell(sheet, left, TOP + row * ROW, width, shown, right)
            said.append(f"  {room:9} {shown or '-'}")
    for row, room in enumerate(ROOMS):
        place = TOP + row * ROW + ROW / 2 + 2
        sheet.words(0, place, f"{row + 1} {room}", 9.5, bold=True, colour=MUTED)
    for file, room in pinned.items():
        if file in PINNED and room in ROOMS and room != room_of(file):
            left = LEFT + list(MAP).index(owner_of(file)) * width
            foot = TOP + list(ROOMS).index(room) * ROW + ROW
            name = _short(file, width - 12, 6)
            sheet.box(left + 3, foot - 13, width - 8, 11, "#ffffff", MARKED["color"], words=[name],
                      size=6, thick=1.6)  # fmt: skip
            said.append(f"pinned to {room}: {file}")
    return DrawnPicture("ten rooms by seven frameworks", "\n".join(said), sheet)


def _cell(sheet: Drawing, x: float, y: float, width: float, file: str, right: bool) -> None:
    folder, _, name = file.rpartition("/")
    line, thick = (RIGHT, 2.4) if right else (ARROW, 0.6)
    sheet.box(x + 2, y, width - 4, ROW - 4, FILL if file else EMPTY, line, thick=thick,
              dashed=not file, title=file)  # fmt: skip
    if not file:
        return
    for text, place, size, colour in (
        (folder.rpartition("/")[2], 10, 6.0, "#5c6570"),
        (name, 21, 7.4, TEXT),
    ):
        short = _short(text, width - 10, size)
        sheet.words(x + width / 2, y + place, short, size, anchor="middle", colour=colour)


def _short(text: str, width: float, size: float) -> str:
    text = text.rpartition("/")[2]
    while width_of(text, size) > width:
        text = text.removesuffix("…")[:-1] + "…"
    return text


# ---- one expression in six hands -----------------------------------------------------------------

SIX = {
    "JAX: a jaxpr": """\
{ lambda ; a:f32[1000] b:f32[1000]. let
    c:f32[1000] = mul a b
    d:f32[1000] = add c 1.0:f32[]
    e:f32[1000] = max d 0.0:f32[]
  in (e,) }""",
    "Inductor: its loop IR": """\
Pointwise(
  'cuda', torch.float32,
  def inner_fn(index):
      i0 = index
      tmp0 = ops.load(a, i0)
      tmp1 = ops.load(b, i0)
      tmp2 = tmp0 * tmp1
      tmp3 = ops.constant(1, torch.float32)
      tmp4 = tmp2 + tmp3
      tmp5 = ops.relu(tmp4)
      return tmp5,
  ranges=[1000])""",
    "Triton: a kernel": """\
@triton.jit
def fused(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    y = tl.maximum(a * b + 1, 0)
    tl.store(y_ptr + i, y, mask=i < n)""",
    "TVM: TensorIR": """\
for i in range(1000):
    with T.sblock("y"):
        vi = T.axis.spatial(1000, i)
        y[vi] = T.max(a[vi] * b[vi] + 1.0, 0.0)""",
    "Halide: algorithm, then schedule": """\
y(i) = max(a(i) * b(i) + 1.0f, 0.0f);

y.split(i, io, ii, 8)
 .vectorize(ii)
 .parallel(io);""",
    "tinygrad, in Python": """\
y = (a * b + 1).relu()

# the same UOps as ours, nearly:
#   MUL, ADD of CONST 1.0, CMPLT and WHERE""",
}
PRODUCT = re.compile(r"mul a b|tmp0 \* tmp1|a \* b|a\[vi\] \* b\[vi\]|a\(i\) \* b\(i\)|MUL\b")
LETTERS, LINE = 7.0, 9.6  # points


def six_hands() -> DrawnPicture:
    """(a * b + 1).relu() of a thousand numbers, as six frameworks write it; the product marked."""
    sheet, bottoms, width = Drawing(), [0.0, 0.0], (PAGE - 10) / 2
    for name, text in SIX.items():
        side = bottoms.index(min(bottoms))
        card, lines = Drawing(), text.splitlines()
        card.box(0, 0, width, 24 + len(lines) * LINE, "#f7f7f7")
        card.words(6, 14, name, 10, bold=True)
        for number, line in enumerate(lines):
            _marked(card, line, 6, 25 + number * LINE)
        sheet.put(card, side * (width + 10), bottoms[side])
        bottoms[side] += card.height + 8
    said = [f"---- {name}\n{text}" for name, text in SIX.items()]
    headline = "one expression in six hands"
    return DrawnPicture(headline, "\n".join([headline, *said]), sheet)


def _marked(card: Drawing, line: str, x: float, y: float) -> None:
    place = 0
    found = PRODUCT.search(line)
    pieces = [line[: found.start()], found[0], line[found.end() :]] if found else [line]
    for number, piece in enumerate(pieces):
        is_product = number == 1
        at = x + width_of("m" * (place + len(piece) - len(piece.lstrip())), LETTERS, mono=True)
        card.words(at, y, piece.strip(), LETTERS, mono=True, bold=is_product,
                   colour=MARKED_TEXT if is_product else TEXT)  # fmt: skip
        place += len(piece)


# ---- words ---------------------------------------------------------------------------------------

WORDS: dict[str, tuple[str, ...]] = {
    # tinygrad, Inductor, Triton, TVM, JAX and XLA, Halide
    "schedule": ("schedule", "what the Scheduler gives", "the order of your launches",
                 "the calls in a Relax function", "schedule, of HLO instructions",
                 "compute_root, compute_at"),
    "opts": ("opts", "tiling, block sizes", "meta-parameters: BLOCK, num_warps",
             "the schedule, its primitives", "the backend's own affair",
             "the schedule, its directives"),
    "fusion": ("fusion", "fusion", "one function, written by you", "FuseOps", "fusion",
               "inlining, compute_at"),
    "lowering": ("rangeify", "lowering, from ATen ops", "a pass: blocks to threads",
                 "LegalizeOps", "inside XLA; lower() is jaxpr to StableHLO", "lowering"),
    "kernel": ("kernel", "kernel", "kernel; a run of it is a program", "PrimFunc",
               "a fusion, compiled", "the loops of a Func"),
    "IR": ("UOp", "FX graph, then loop IR", "Triton IR, then TritonGPU IR (MLIR)",
           "Relax, then TensorIR", "jaxpr, StableHLO, HLO", "Expr and Stmt"),
    "BEAM": ("BEAM", 'mode="max-autotune"', "triton.autotune, from a list of yours",
             "MetaSchedule", "autotuning, of GPU kernels", "autoscheduler"),
    "view": ("movement ops", "strides of a layout", "pointers plus offsets", "an index expression",
             "an op, such as transpose, and a layout", "an index expression"),
    "TinyJit": ("TinyJit, which records launches", "torch.compile, which reads bytecode",
                "triton.jit, which reads source", "the build of a module",
                "jax.jit, which traces", "compile_jit"),
    "rewrite rule": ("UPat and a function", "pattern_matcher.py", "an MLIR pattern",
                     "a dataflow pattern", "an HLO pass", "Simplify, on Expr and Stmt"),
}  # fmt: skip


def words() -> Table:
    """Our words, and what each of the six calls such a thing."""
    theirs = [name for name in MAP if name != "tinyframe"]
    return Table(("ours", *theirs), [(word, *row) for word, row in WORDS.items()])


# ---- who takes what from whom --------------------------------------------------------------------

# name: (year, column, row), and what the year is of
FAMILY = {
    "Halide": (0, 1, "2012, a paper"),
    "XLA": (1, 3, "2017, announced"),
    "TVM": (1, 0, "2018, a paper"),
    "JAX": (2, 3, "2018, a paper"),
    "Triton": (2, 2, "2019, a paper"),
    "tinygrad": (3, 0, "2020"),
    "Inductor": (3, 1, "2022, announced"),
    "tinyframe": (4, 0, "yours"),
}
LEARNED = (  # who says so of itself -> from whom
    ("TVM", "Halide"), ("tinygrad", "TVM"), ("tinygrad", "JAX"), ("tinyframe", "tinygrad"),
)  # fmt: skip
HANDS_OVER = (("JAX", "XLA"), ("XLA", "Triton"), ("Inductor", "Triton"), ("Inductor", "Halide"))


def family() -> DrawnPicture:
    """Thin arrows: learned from. Thick ones: can hand its kernels over to."""
    sheet = Drawing()
    across, down, wide, high = 136.0, 64.0, 96.0, 36.0

    def corner(name: str) -> tuple[float, float]:
        column, row, _ = FAMILY[name]
        return column * across, 16 + row * down

    def arrow(one: str, other: str, thick: float) -> None:
        (x, y), (u, v) = corner(one), corner(other)
        begin = (x + (wide if u > x else 0 if u < x else wide / 2),
                 y + (high / 2 if u != x else high if v > y else 0))  # fmt: skip
        end = (u + (wide if x > u else 0 if x < u else wide / 2),
               v + (high / 2 if u != x else high if y > v else 0))  # fmt: skip
        sheet.line([begin, end], thick, arrow=True)

    for one, other in LEARNED:
        arrow(one, other, 0.8)
    for one, other in HANDS_OVER:
        arrow(one, other, 2.8)
    for name, (_, _, year) in FAMILY.items():
        x, y = corner(name)
        sheet.box(x, y, wide, high, FILL, words=[name, year], size=10)
    sheet.words(0, 270, "thin: has learned from (it says so itself)", 9.5, colour=MUTED)
    sheet.words(330, 270, "thick: can hand its kernels over to", 9.5, colour=MUTED)
    said = [f"{one} has learned from {other}" for one, other in LEARNED]
    said += [f"{one} can hand its kernels over to {other}" for one, other in HANDS_OVER]
    headline = "who takes what from whom"
    return DrawnPicture(headline, "\n".join([headline, *said]), sheet)


# ---- the same word for something else ------------------------------------------------------------

# who says it, what they say, our word for it, and why
FRIENDS: Sequence[tuple[str, str, str, str]] = (
    ("Halide", "A good schedule vectorizes the innermost loop.", "opts",
     "Vectorizing is done to the loops of one kernel."),
    ("XLA", "With a different schedule these instructions need less memory.", "schedule",
     "It's an order in which things run, one after another."),
    ("JAX", "lower() gives you StableHLO, with an op for each operation on arrays.", "graph",
     "There's no loop in it yet: it's arrays and operations, only in a different spelling."),
    ("Inductor", "aten.exp has a lowering, a function of an index.", "lowering",
     "An operation on arrays becomes what is done for one index."),
    ("Triton", "Each program computes one row.", "thread block",
     "It's one place of the grid, and all the threads that work there together."),
    ("Halide", "blur_x is inlined into blur_y.", "fusion",
     "One is computed inside the loops of the other, and its values never go to memory."),
    ("Triton", "autotune tries these four configurations.", "BEAM",
     "Somebody tries and times, instead of deciding by looking."),
    ("TVM", "This PrimFunc takes three buffers.", "kernel",
     "It's loops over memory that can be compiled and called."),
)  # fmt: skip


def overheard() -> Table:
    """What was overheard, by number, and in whose room."""
    rows = [(str(n), who, said) for n, (who, said, _, _) in enumerate(FRIENDS, 1)]
    return Table(("", "in", "what they say"), rows)


# ---- claims --------------------------------------------------------------------------------------

# a claim, and what shows that it is right; "" of the one that is wrong
CLAIMS: Sequence[tuple[str, str]] = (
    ("Halide's reorder names the innermost loop first, TVM's the outermost.",
     "There's a cell for each of them above, with its loops below it."),
    ("A jaxpr doesn't say in which order the elements are computed.",
     "Look at the first card: it has arrays in it, and no loop and no index."),
    ("Inductor can have its kernels written in Triton, in C++ or in Halide.",
     "The settings cpu_backend and cuda_backend of torch/_inductor/config.py have these names."),
    ("If one Triton kernel reads what another has written, Triton fuses the two.", ""),
    ("In tinygrad, what a Tensor holds and what becomes a loop are nodes of one kind.",
     "Look at the map: the rooms graph and IR are one file there, uop/ops.py."),
    ("A change of the schedule can't change what a Halide program computes.",
     "The algorithm stands by itself, and a schedule only says when and where it's computed."),
)  # fmt: skip


def claims() -> Table:
    return Table(("", "claim"), [(str(n), claim) for n, (claim, _) in enumerate(CLAIMS, 1)])


def as_pins(answer: Any) -> dict[str, str]:
    """A learner's pins, however they were written, as a room for each file. A file may be its
    number, its path or the end of it; a room its number or its name. TypeError for what is neither
    a dict nor a list."""
    return numbered(answer, list(PINNED), list(ROOMS))


def numbered(answer: Any, names: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """For each of these names a word, from {1: "loops", …} or, in their order, a list of words.
    What isn't understood stays as it was typed."""
    if isinstance(answer, (list, tuple)):
        answer = dict(enumerate(answer, 1))
    if not isinstance(answer, Mapping):
        raise TypeError("a dict, {1: …, 2: …}, or a list in their order")
    return {
        _one(str(key), names, str.endswith): _one(
            str(value).lower(), words, lambda word, typed: word.lower() == typed
        )
        for key, value in answer.items()
        if value is not ...
    }


def _one(word: str, names: Sequence[str], fits: Callable[[str, str], bool]) -> str:
    word = word.strip().strip("`'\"")
    number = int(float(word)) if re.fullmatch(r"\d+(\.0)?", word) else 0
    if 1 <= number <= len(names):
        return names[number - 1]
    fitting = [name for name in names if word and fits(name, word)]
    return fitting[0] if len(fitting) == 1 else word
