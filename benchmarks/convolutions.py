"""Convolutions: forward, by weight, by input, and transposed.

The NumPy versions, which results are compared with, go through the places of the window one by one:
at place (i, j) every result reads one element of the padded input, and those lie `stride` apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.work import Must, Work, normal, torch

Shape = tuple[int, ...]  # (batch, channels, height, width)
MUST: Must = ("torch", 0.8)


@dataclass(frozen=True)
class Geometry:
    """How a window moves over an image; the padding is 1."""

    stride: int = 1
    dilation: int = 1
    groups: int = 1

    @property
    def options(self) -> dict[str, int]:
        """As conv2d takes them."""
        return {"stride": self.stride, "dilation": self.dilation, "groups": self.groups,
                "padding": 1}  # fmt: skip

    def result(self, x: Shape, w: Shape) -> Shape:
        """The shape of x.conv2d(w)."""
        height, width = (
            (size + 2 - self.dilation * (window - 1) - 1) // self.stride + 1
            for size, window in zip(x[2:], w[2:], strict=True)
        )
        return x[0], w[0], height, width

    def places(self, w: Shape, out: Shape) -> Iterator[tuple[tuple, tuple]]:
        """Each place of the window: where it is in the weight, and which elements of the padded
        input the results read there."""
        for place in np.ndindex(*w[2:]):
            first = [i * self.dilation for i in place]
            read = tuple(slice(f, f + (n - 1) * self.stride + 1, self.stride)
                         for f, n in zip(first, out[2:], strict=True))  # fmt: skip
            yield (..., *place), (..., *read)


def conv(name: str, x: Shape, w: Shape, wanted: str = "forward", stride: int = 1,
         dilation: int = 1, groups: int = 1, quick: bool = False) -> Work:  # fmt: skip
    """A convolution with padding 1: `wanted` is forward, by weight, or by input."""
    geometry = Geometry(stride, dilation, groups)
    out, options = geometry.result(x, w), geometry.options

    def forward(x: Any, w: Any) -> Any:
        return x.conv2d(w, **options)

    def by_weight(x: Any, g: Any) -> Any:
        v = type(x).zeros(*w).contiguous()
        return forward(x, v).gradient(v, gradient=g)[0]

    def by_input(w: Any, g: Any) -> Any:
        v = type(w).zeros(*x).contiguous()
        return forward(v, w).gradient(v, gradient=g)[0]

    def back(g: Any, x: Any, w: Any, which: int) -> Any:
        mask = [which == n for n in range(3)]
        places = ([stride] * 2, [1, 1], [dilation] * 2, False, [0, 0], groups)
        return torch().ops.aten.convolution_backward(g, x, w, None, *places, mask)[which]

    inputs, ours, theirs, reference = {
        "forward": ((x, w), forward,
                    lambda x, w: torch().nn.functional.conv2d(x, w, **options), forward_numpy),
        "by weight": ((x, out), by_weight, lambda v, g: back(g, v, torch().empty(w), 1),
                      lambda v, g, how: by_weight_numpy(v, g, w, how)),
        "by input": ((w, out), by_input, lambda v, g: back(g, torch().empty(x), v, 0),
                     lambda v, g, how: by_input_numpy(v, g, x, how)),
    }[wanted]  # fmt: skip
    return Work(f"conv {name} {wanted}", normal(*inputs), ours, theirs, MUST,
                2.0 * math.prod(out) * math.prod(w[1:]), 4.0 * sum(map(math.prod, (x, w, out))),
                reference=lambda a, b: reference(a, b, geometry), quick=quick)  # fmt: skip


def transposed(name: str, x: Shape, w: Shape, stride: int) -> Work:
    """A transposed convolution with padding 1; w is (channels, out, height, width)."""
    geometry = Geometry(stride)
    height, width = ((size - 1) * stride - 2 + window
                     for size, window in zip(x[2:], w[2:], strict=True))  # fmt: skip
    out = (x[0], w[1], height, width)
    return Work(
        f"conv transposed {name}", normal(x, w),
        lambda x, w: x.conv_transpose2d(w, stride=stride, padding=1),
        lambda x, w: torch().nn.functional.conv_transpose2d(x, w, stride=stride, padding=1), MUST,
        2.0 * math.prod(x) * math.prod(w[1:]), 4.0 * sum(map(math.prod, (x, w, out))),
        reference=lambda x, w: by_input_numpy(w, x, out, geometry),
    )  # fmt: skip


def mean_of_relu(x: Shape, w: Shape) -> Work:
    """A convolution of which only the mean above 0 is wanted."""
    geometry = Geometry()
    out = geometry.result(x, w)
    return Work(
        "mean of relu of conv", normal(x, w), lambda x, w: x.conv2d(w, padding=1).relu().mean(),
        lambda x, w: torch().nn.functional.conv2d(x, w, padding=1).relu().mean(), MUST,
        2.0 * math.prod(out) * math.prod(w[1:]), 4.0 * sum(map(math.prod, (x, w))),
        reference=lambda x, w: np.maximum(forward_numpy(x, w, geometry), 0).mean(),
    )  # fmt: skip


# ---- the same in NumPy --------------------------------------------------------------------------


def by_group(x: np.ndarray, axis: int, groups: int) -> np.ndarray:
    """x with that axis split in (groups, the channels of one)."""
    return x.reshape(*x.shape[:axis], groups, -1, *x.shape[axis + 1 :])


def forward_numpy(x: np.ndarray, w: np.ndarray, how: Geometry) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros(how.result(x.shape, w.shape), x.dtype)
    for place, read in how.places(w.shape, out.shape):
        one = by_group(padded[read], 1, how.groups), by_group(w[place], 0, how.groups)
        out += np.einsum("ngchw,goc->ngohw", *one, optimize=True).reshape(out.shape)
    return out


def by_weight_numpy(x: np.ndarray, g: np.ndarray, w: Shape, how: Geometry) -> np.ndarray:
    """The gradient of (x.conv2d(weight) * g).sum() with respect to the weight, of shape w."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros(w, x.dtype)
    for place, read in how.places(w, g.shape):
        one = by_group(padded[read], 1, how.groups), by_group(g, 1, how.groups)
        out[place] = np.einsum("ngchw,ngohw->goc", *one, optimize=True).reshape(w[:2])
    return out


def by_input_numpy(w: np.ndarray, g: np.ndarray, x: Shape, how: Geometry) -> np.ndarray:
    """The gradient of (input.conv2d(w) * g).sum() with respect to the input, of shape x."""
    padded = np.zeros((*x[:2], x[2] + 2, x[3] + 2), w.dtype)
    for place, read in how.places(w.shape, g.shape):
        one = by_group(g, 1, how.groups), by_group(w[place], 0, how.groups)
        added = np.einsum("ngohw,goc->ngchw", *one, optimize=True)
        padded[read] += added.reshape(padded[read].shape)
    return padded[:, :, 1:-1, 1:-1]
