"""Rows that are large enough for a GPU, beside PyTorch on the same GPU; and docs/gpu.md."""

from __future__ import annotations

import importlib.util
import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.libraries import ABSENT, CALLS, NOT_HERE, parts
from benchmarks.measure import LeftOut
from benchmarks.places import of_an_embedding, with_places
from benchmarks.report import BEGIN, END, markdown
from benchmarks.training import cnn_layers, digits, train
from benchmarks.work import FEW, Work, normal, torch
from benchmarks.workers import Ready

SAMPLE = 1 << 20  # elements of a result, evenly spread, that are compared
HEAD = ["", "µs", "speed", "PyTorch, µs", "× PyTorch", "card", "driver", "date"]


@dataclass(frozen=True)
class Case:
    """A row: dtype of its floats, and tinyframe's settings."""

    work: Work
    dtype: str = "float32"
    settings: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.work.name

    def speed(self, seconds: float) -> str:
        """TFLOP/s where many operations are done for each byte, else GB/s; empty if neither is
        known."""
        if self.work.flops > FEW * self.work.bytes:
            return f"{self.work.flops / seconds * 1e-12:.1f} TFLOP/s"
        return f"{self.work.bytes / seconds * 1e-9:,.0f} GB/s" if self.work.bytes else ""


# ---- the rows ------------------------------------------------------------------------------------

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
GELU = math.sqrt(2 / math.pi)


def case(
    name: str, shapes: Sequence[tuple[int, ...]], ours: Callable[..., Any],
    theirs: Callable[..., Any] | None = None, *, out: tuple[int, ...] = (), flops: float = 0,
    dtype: str = "float32", settings: Mapping[str, int] | None = None,
) -> Case:  # fmt: skip
    """A row whose inputs are normally distributed. theirs: by default written as ours is. out: the
    shape of the result."""
    elements = sum(map(math.prod, shapes)) + math.prod(out)
    work = Work(name, normal(*shapes), ours, theirs or ours, flops=flops,
                bytes=float(SIZES[dtype] * elements))  # fmt: skip
    return Case(work, dtype, settings or {})


def product(name: str, n: int, dtype: str = "float32", **settings: int) -> Case:
    return case(f"matmul {name}", [(n, n)] * 2, lambda a, b: a @ b, out=(n, n), flops=2.0 * n**3,
                dtype=dtype, settings=settings)  # fmt: skip


def convolution(
    name: str, images: tuple[int, ...], filters: tuple[int, ...], dtype: str = "float32"
) -> Case:
    """Of windows of 3 × 3 (padded) or of 1 × 1."""
    out, padding = (images[0], filters[0], *images[2:]), filters[-1] // 2
    return case(
        f"conv {name}", [images, filters], lambda x, w: x.conv2d(w, padding=padding),
        lambda x, w: torch().nn.functional.conv2d(x, w, padding=padding), out=out, dtype=dtype,
        flops=2.0 * math.prod(out) * math.prod(filters[1:]),
    )  # fmt: skip


def attention(name: str, head: tuple[int, ...], dtype: str) -> Case:
    return case(
        f"attention {name}", [head] * 3,
        lambda q, k, v: q.scaled_dot_product_attention(k, v),
        lambda q, k, v: torch().nn.functional.scaled_dot_product_attention(q, k, v), out=head,
        flops=4.0 * math.prod(head) * head[-2], dtype=dtype,
    )  # fmt: skip


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + (GELU * (x + 0.044715 * x * x * x)).tanh())


def cnn(nn: Any, tensor: Any) -> list[Any]:
    """The network of examples/mnist_cnn.py without BatchNorm."""
    layers = cnn_layers(nn, tensor)
    return [layer for layer in layers if not type(layer).__name__.startswith("BatchNorm")]


def mlp(nn: Any, tensor: Any) -> list[Any]:
    relu = tensor.relu if tensor else nn.ReLU()
    return [nn.Linear(784, 512), relu, nn.Linear(512, 10)]


def rows(shrink: int = 1) -> list[Case]:
    """All rows; their largest sizes are divided by `shrink`."""

    def size(n: int) -> int:
        return max(1, n // shrink)

    n, images, long, many = size(8192), size(64), size(131072), size(1_000_000)
    square, head, pixels = (n, n), (8, 16, size(1024), 64), (size(32), 1024, 16, 64)
    words, looked_up = size(32000), size(16384)
    halves = ("float16", "bfloat16")
    return [
        *[product(f"float32 {m:,}", size(m)) for m in (1024, 2048, 4096)],
        *[product(f"{half} {m:,}", size(m), half) for half in halves for m in (4096, 8192)],
        product("TF32 4,096", size(4096), TF32=1),
        convolution("3×3 64×64×56×56", (images, 64, 56, 56), (64, 64, 3, 3)),
        convolution("3×3 32×256×14×14", (size(32), 256, 14, 14), (256, 256, 3, 3)),
        convolution("3×3 float16 64×64×56×56", (images, 64, 56, 56), (64, 64, 3, 3), "float16"),
        convolution("1×1 64×256×28×28", (images, 256, 28, 28), (256, 256, 1, 1)),
        Case(Work("CNN step 512", digits(size(512), 1, 28, 28),
                  **train(cnn, "Adam", 1e-3))),
        Case(Work("MLP step 512", digits(size(512), 784), **train(mlp, "Adam", 1e-3))),
        attention("float32 8×16×1024×64", head, "float32"),
        attention("float16 8×16×1024×64", head, "float16"),
        case("softmax 8192²", [square], lambda x: x.softmax(-1), out=square),
        case("softmax 64×131,072", [(64, long)], lambda x: x.softmax(-1), out=(64, long)),
        case("layernorm 8192²", [square], lambda x: x.layernorm(),
             lambda x: torch().nn.functional.layer_norm(x, x.shape[-1:]), out=square),
        case("GELU, tanh, 8192²", [square], gelu, out=square),
        case("add 8192²", [square] * 2, lambda x, y: x + y, out=square),
        case("sum 8192²", [square], lambda x: x.sum()),
        case("sum of columns 8192²", [square], lambda x: x.sum(0)),
        case("sum of rows 8192²", [square], lambda x: x.sum(1)),
        case("transpose 8192²", [square], lambda x: x.T.contiguous(), out=square),
        case("permute 0213 32×1024×16×64", [pixels],
             lambda x: x.permute(0, 2, 1, 3).contiguous(), out=pixels),
        case("add 1,000", [(1000,)] * 2, lambda x, y: x + y),
        case("cumsum 4096²", [(size(4096),) * 2], lambda x: x.cumsum(1), out=(size(4096),) * 2),
        case("sort 1,000,000", [(many,)], lambda x: x.sort(-1)[0]),
        Case(Work("scatter_add 1,000,000 to 1,000", with_places(many, 1000, (many,)),
                  lambda x, i: type(x).zeros(1000).scatter_add(0, i, x),
                  lambda x, i: torch().zeros(1000).scatter_add(0, i.long(), x))),
        Case(Work("embedding 32,000×512 of 16,384", with_places(looked_up, words, (words, 512)),
                  lambda table, i: table[i], lambda table, i: table[i],
                  bytes=8.0 * 512 * looked_up)),
        Case(of_an_embedding("embedding gradient 32,000×512", words, 512, looked_up)),
    ]  # fmt: skip


CASES = {each.name: each for each in rows()}

# ---- the libraries, each in a process of its own -------------------------------------------------


def sampled(result: Any) -> np.ndarray:
    flat = np.asarray(result, np.float32).reshape(-1)
    return flat[:: -(-flat.size // SAMPLE)]


def ours(case: Case, waits: bool) -> Ready:
    """On the default device of this process. waits: whether each call waits for its result; or
    else, only the last of many."""
    from tinyframe import Context, Device, Tensor, TinyJit, dtypes

    arrays = case.work.inputs()
    tensors = [Tensor(a).cast(getattr(dtypes, case.dtype)) if a.dtype == np.float32 else Tensor(a)
               for a in arrays]  # fmt: skip
    step: Any = TinyJit(lambda *xs: [y.realize() for y in parts(case.work.ours(*xs))])
    device = Device[Device.DEFAULT]
    with Context(**case.settings):
        result = [step(*[x.realize() for x in tensors]) for _ in range(CALLS)][-1]
    device.synchronize()

    def run() -> None:
        step(*tensors)
        if waits:
            device.synchronize()

    return Ready(run, lambda: [sampled(r.cast(dtypes.float32).numpy()) for r in result],
                 wait=device.synchronize)  # fmt: skip


def pytorchs(case: Case, device: str = "cuda") -> Ready:
    """On the same GPU. LeftOut where PyTorch is not installed, or has no GPU."""
    if not importlib.util.find_spec("torch"):
        raise LeftOut(ABSENT, "PyTorch is not installed")
    if device == "cuda" and not torch().cuda.is_available():
        raise LeftOut(NOT_HERE, "PyTorch has no GPU here")
    torch().set_default_device(device)
    torch().backends.cuda.matmul.allow_tf32 = torch().backends.cudnn.allow_tf32 = "TF32" in (
        case.settings
    )
    tensors = [torch().from_numpy(a).to(device) for a in case.work.inputs()]
    tensors = [x.to(getattr(torch(), case.dtype)) if x.is_floating_point() else x for x in tensors]
    result = [case.work.theirs(*tensors) for _ in range(CALLS)][-1]
    return Ready(
        lambda: case.work.theirs(*tensors),
        lambda: [sampled(r.detach().float().cpu()) for r in parts(result)],
        wait=torch().cuda.synchronize if device == "cuda" else lambda: None,
    )


# ---- docs/gpu.md ---------------------------------------------------------------------------------


def card_and_driver() -> tuple[str, str]:
    """As nvidia-smi calls them; "unknown" where there is none."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown", "unknown"
    name, driver = said.splitlines()[0].split(", ")
    return name, driver


def fill_page(page: Path, measured: Sequence[Sequence[str]]) -> None:
    """Puts rows into the page's table: in place of those with the same name and card, the others
    at its end. measured: name, µs, speed, PyTorch's µs, and how many times as fast."""
    before, begin, rest = page.read_text().partition(BEGIN)
    table, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks {BEGIN} … {END}")
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if "|" in line][2:]
    card, driver = card_and_driver()
    found = {(line[0], line[HEAD.index("card")]): line for line in lines}
    for cells in measured:
        filled = [cell or NOT_HERE for cell in cells]
        found[cells[0], card] = [*filled, card, driver, date.today().isoformat()]
    text = markdown([HEAD, *found.values()])
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
