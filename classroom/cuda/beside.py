"""tinyframe's kernel for an op beside one that a learner wrote: texts, and what each of them does.

beside(mine, launch, {"a": a, "b": b}, lambda a, b: a @ b)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from classroom.cuda.running import Launch, Run, runs
from classroom.cuda.source import Kernel, without_comments
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.device import buffer_of
from tinyframe.gpu.drivers.cuda_emulator import KERNEL
from tinyframe.gpu.languages.cuda import CUDALanguage
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, wrapped
from tinyframe.viz.picture import DrawnPicture

SIZE = 8.5  # points, of letters
FILLS = {"barrier": "#fbd0cf", "shared": "#ffe9b8", "memory": "#cfe6fa", "": "#fafafa"}
MEANINGS = {"memory": "uses the GPU's memory", "shared": "uses shared memory", "barrier": "waits"}


def planned(
    compute: Callable[..., Tensor], inputs: Mapping[str, np.ndarray]
) -> tuple[Kernel, Launch]:
    """The one kernel that tinyframe's plans make of an op on a GPU, and how it is launched; its
    first argument is the result. Nothing is run."""
    tensors = {name: Tensor.empty(*x.shape, device="NULL:CUDA") for name, x in inputs.items()}
    result = compute(*tensors.values())
    (item,) = result.schedule()
    with Context(NOOPT=0, BEAM=0, DEBUG=0):
        program = get_program(item.ast, CUDALanguage())
    found = KERNEL.search(program.src)
    assert found is not None
    body = program.src[found.end() :].strip().removeprefix("{").removesuffix("}").strip("\n")
    kernel = Kernel(found["parameters"], body, int(found["bound"]), program.src)
    names = {buffer_of(tensor.uop.base): name for name, tensor in tensors.items()}
    given = {"out": np.zeros(result.shape, np.float32), **inputs}
    order = [names.get(buffer, "out") for buffer in item.bufs]
    arguments = dict(zip(kernel.names, [given[name] for name in order], strict=True))
    sizes = (program.global_size, program.local_size)
    grid, block = (tuple(map(int, size)) for size in sizes)
    return kernel, Launch(grid, block, arguments)


def beside(
    mine: Kernel,
    launch: Launch,
    inputs: Mapping[str, np.ndarray],
    compute: Callable[..., Tensor],
    titles: tuple[str, str] = ("yours", "tinyframe's"),
) -> DrawnPicture:
    """The two texts side by side, with what each line uses in colour, and what is counted below.

    mine: the kernel whose result is called `out`, started as `launch` says. inputs, compute: what
    tinyframe is asked for. titles: what the two are called.
    """
    theirs, theirs_launched = planned(compute, inputs)
    both = [runs(mine, [launch])[-1], runs(theirs, [theirs_launched])[-1]]
    results = both[0].arrays["out"].size
    rows = [counted(run, results) for run in both]
    sheet, width = Drawing(), (PAGE - 12) / 2
    bottom, text = 0.0, list[str]()
    for n, (run, title) in enumerate(zip(both, titles, strict=True)):
        drawn = listing(run.kernel, title, width)
        sheet.put(drawn, n * (width + 12), 0)
        bottom = max(bottom, drawn.height)
        text += [f"{title}:", *run.kernel.body.splitlines()]
    x = 0.0
    for kind, meaning in MEANINGS.items():
        sheet.box(x, bottom + 8, 14, 12, FILLS[kind], radius=0, thick=0.75)
        sheet.words(x + 19, bottom + 18, meaning, 10, colour=MUTED)
        x += 150
    bottom += 30
    for place, label in enumerate(rows[0]):
        y = bottom + place * 17 + 12
        sheet.words(0, y, label, 11, colour=MUTED)
        for n, row in enumerate(rows):
            sheet.words(250 + 150 * n, y, f"{titles[n]}: {row[label]}", 11, colour=MUTED, bold=True)
    text += [f"{label}: {rows[0][label]} | {rows[1][label]}" for label in rows[0]]
    said = f"two kernels: {rows[0][LOADS]} and {rows[1][LOADS]} loads for each result"
    return DrawnPicture(said, "\n".join([said, *text]), sheet)


LOADS = "loads from the GPU's memory for each result"


def counted(run: Run, results: int) -> dict[str, str]:
    """What a run is judged by, in words."""
    threads, blocks = (int(np.prod(size)) for size in (run.launch.block, run.launch.grid))
    kept = run.regions[len(run.arrays) :]
    return {
        "threads in a block": str(threads),
        "blocks": str(blocks),
        "results for each thread": str(Fraction(int(results), threads * blocks)),
        "numbers in shared memory": str(sum(size for _, size, _ in kept)),
        LOADS: f"{run.loads() / results:.4g}",
    }


def listing(kernel: Kernel, title: str, width: float) -> Drawing:
    """A kernel's text, each line on the colour of what it uses."""
    sheet = Drawing()
    sheet.words(0, 11, title, 11, bold=True, colour=MUTED)
    top, high = 18.0, SIZE * 1.45
    for line, code in zip(
        kernel.body.splitlines(), without_comments(kernel.body).splitlines(), strict=True
    ):
        fill = FILLS[role(code, kernel)]
        for part in wrapped(line, width - 8, SIZE, mono=True) if line.strip() else [""]:
            sheet.box(0, top, width, high, fill, fill, radius=0, thick=0)
            sheet.words(4, top + SIZE * 1.05, part, SIZE, mono=True)
            top += high
    return sheet


def role(code: str, kernel: Kernel) -> str:
    """What a line of a kernel uses: the rarest of what it does."""
    words = {*re.findall(r"\w+", code)}
    if "__syncthreads" in words:
        return "barrier"
    if words & {*kernel.pointers}:
        return "memory"
    return "shared" if words & {"__shared__", *kernel.shared_shapes} else ""
