"""What is compared: one row for each piece of work, with how each library does it.

A row makes its inputs with NumPy, once for all. Each library then gets a function that does the
work on them, into memory that it may use again, and gives the result as an array to compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Run = Callable[[], Any]
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Work:
    """One row: `ours` and `theirs` make from the inputs, as Tensors of that library, the result."""

    name: str
    inputs: Callable[[], Arrays]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    flops: float = 0.0
    bytes: float = 0.0
    numpy: Callable[..., Any] | None = None  # (*inputs, out): into `out`
    ready: bool = False  # theirs takes out=, a ready buffer


def normal(*shapes: tuple[int, ...]) -> Callable[[], Arrays]:
    def make() -> Arrays:
        rng = np.random.default_rng(0)
        return tuple(rng.standard_normal(shape, dtype=np.float32) for shape in shapes)

    return make


def matmul(name: str, a: tuple[int, ...], b: tuple[int, ...], how: str = "ab") -> Work:
    """A product; `how` says which operand is stored transposed: ab, abt, atb."""

    def product(x: Any, y: Any) -> Any:
        return (
            x @ y.transpose(-1, -2)
            if how == "abt"
            else x.transpose(-1, -2) @ y
            if how == "atb"
            else x @ y
        )

    m, k = (a[-1], a[-2]) if how == "atb" else (a[-2], a[-1])
    n = b[-2] if how == "abt" else b[-1]
    flops = 2.0 * math.prod(a[:-2]) * m * n * k
    return Work(
        f"matmul {name}", normal(a, b), product, product, flops,
        numpy=(lambda x, y, out: np.matmul(x, y, out=out)) if how == "ab" else None,
    )  # fmt: skip


def torch() -> Any:
    import torch

    return torch


def conv_forward(x: Any, w: Any) -> Any:
    return torch().nn.functional.conv2d(x, w, padding=1)


def convolution_backward(g: Any, x: Any, w: Any, wanted: int) -> Any:
    """PyTorch's gradient by the input (0) or by the weight (1) alone."""
    mask = [wanted == n for n in range(3)]
    backward = torch().ops.aten.convolution_backward
    return backward(g, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)[wanted]


def by_weight_ours(x: Any, g: Any) -> Any:
    from tinyframe import Tensor

    w = Tensor.zeros(*CONV[1]).contiguous()
    w.requires_grad = True
    return (x.conv2d(w, padding=1) * g).sum().gradient(w)[0]


def by_input_ours(w: Any, g: Any) -> Any:
    from tinyframe import Tensor

    x = Tensor.zeros(*CONV[0]).contiguous()
    x.requires_grad = True
    return (x.conv2d(w, padding=1) * g).sum().gradient(x)[0]


def gelu_ours(x: Any) -> Any:
    return x * 0.5 * (1 + (x / math.sqrt(2)).erf())


def gelu_theirs(x: Any) -> Any:
    return x * 0.5 * (1 + torch().erf(x / math.sqrt(2)))


def attention_theirs(q: Any, k: Any, v: Any) -> Any:
    return torch().nn.functional.scaled_dot_product_attention(q, k, v)


CONV = (64, 32, 28, 28), (64, 32, 3, 3)
CONV_OUT = (64, 64, 28, 28)
CONV_FLOPS = 2.0 * 64 * 64 * 32 * 9 * 28 * 28
SQUARE = (4096, 4096)
PASS = 4.0 * 4096 * 4096  # bytes of one pass over it


def rows() -> Iterator[Work]:
    for n in (512, 1024, 2048):
        yield matmul(str(n), (n, n), (n, n))
    yield matmul("1024 A·Bᵀ", (1024, 1024), (1024, 1024), "abt")
    yield matmul("1024 Aᵀ·B", (1024, 1024), (1024, 1024), "atb")
    yield matmul("1000", (1000, 1000), (1000, 1000))
    yield matmul("1023", (1023, 1023), (1023, 1023))
    yield matmul("512x784 · 784x128", (512, 784), (784, 128))
    yield matmul("64 × (128x64 · 64x128)", (64, 128, 64), (64, 64, 128))
    yield Work(
        "conv 3x3 forward",
        normal(*CONV),
        lambda x, w: x.conv2d(w, padding=1),
        conv_forward,
        CONV_FLOPS,
    )
    yield Work(
        "conv 3x3 by weight",
        normal(CONV[0], CONV_OUT),
        by_weight_ours,
        lambda x, g: convolution_backward(g, x, torch().empty(CONV[1]), 1),
        CONV_FLOPS,
    )
    yield Work(
        "conv 3x3 by input",
        normal(CONV[1], CONV_OUT),
        by_input_ours,
        lambda w, g: convolution_backward(g, torch().empty(CONV[0]), w, 0),
        CONV_FLOPS,
    )
    yield Work(
        "softmax rows 4096", normal(SQUARE), lambda x: x.softmax(-1),
        lambda x, out: torch().softmax(x, -1, out=out), bytes=2 * PASS, ready=True,
    )  # fmt: skip
    yield Work(
        "layernorm rows 4096", normal(SQUARE), lambda x: x.layernorm(),
        lambda x, out: torch().ops.aten.native_layer_norm.out(
            x, [4096], None, None, 1e-5, out0=out, out1=_spare(0), out2=_spare(1)),
        bytes=2 * PASS, ready=True,
    )  # fmt: skip
    yield Work("gelu chain 4096²", normal(SQUARE), gelu_ours, gelu_theirs, bytes=2 * PASS)
    yield Work(
        "add 4096²", normal(SQUARE, SQUARE), lambda x, y: x + y,
        lambda x, y, out: torch().add(x, y, out=out), bytes=3 * PASS, ready=True,
        numpy=lambda x, y, out: np.add(x, y, out=out),
    )  # fmt: skip
    yield Work("sum 4096²", normal(SQUARE), lambda x: x.sum(), lambda x: x.sum(), bytes=PASS)
    yield Work("sum axis 0", normal(SQUARE), lambda x: x.sum(0), lambda x: x.sum(0), bytes=PASS)
    yield Work("sum axis 1", normal(SQUARE), lambda x: x.sum(1), lambda x: x.sum(1), bytes=PASS)
    head = (1, 8, 512, 64)
    yield Work(
        "attention 1x8x512x64", normal(head, head, head),
        lambda q, k, v: q.scaled_dot_product_attention(k, v), attention_theirs,
        4.0 * 8 * 512 * 512 * 64,
    )  # fmt: skip


_spares: dict[int, Any] = {}


def _spare(number: int) -> Any:
    return _spares.setdefault(number, torch().empty(4096, 1))
