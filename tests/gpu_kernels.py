"""Kernels for devices with blocks of threads, and their values: hand-written Opts, and any Opts."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.gpu_sources import TILED as TILED
from tests.kernels import filled, numbers
from tests.reference import softmax
from tinyframe import Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
from tinyframe.renderer import Target
from tinyframe.uop.node import Ops, UOp

UPCAST, VECTOR, UNROLL, SPLIT = OptOps.UPCAST, OptOps.VECTOR, OptOps.UNROLL, OptOps.SPLIT
STAGE, GLOBAL, LOCAL, GROUP = OptOps.STAGE, OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP

SUM_OF_ROWS = [Opt(GLOBAL, 0), Opt(GROUP, 1, 32)]
# the columns of a row are the same threads that find its maximum and its sum
SOFTMAX = [Opt(GLOBAL, 0), Opt(LOCAL, 1, 16), Opt(GROUP, 4, 16), Opt(GROUP, 3, 16)]


# the axis that is summed over, and how
SUMS = {
    "rows of a block, each shared": (1, [Opt(GLOBAL, 0), Opt(LOCAL, 0, 4), Opt(GROUP, 2, 8)]),
    "several rows at once, each shared": (1, [Opt(UPCAST, 0, 3), Opt(GLOBAL, 0), Opt(GROUP, 1, 8)]),
    "lanes along the columns of a shared sum": (
        0, [Opt(VECTOR, 0, 4), Opt(GLOBAL, 0), Opt(GROUP, 1, 8)]),
    "lanes along a shared sum": (1, [Opt(VECTOR, 1, 4), Opt(GLOBAL, 0), Opt(GROUP, 1, 5)]),
    "more threads than terms": (1, [Opt(VECTOR, 0, 4), Opt(GROUP, 1, 64)]),
    "a loop in which a panel is filled again and again": (1, [Opt(GROUP, 1, 8)]),
}  # fmt: skip


def cases(
    device: str,
) -> dict[str, tuple[Callable[[], Tensor], list[Opt], Callable[[], np.ndarray]]]:
    """A Tensor that is one kernel, Opts that share its work among threads, and its values."""

    def data(array: np.ndarray) -> Tensor:
        return filled(array, device)

    x, y = numbers(40, 24), numbers(24, 20, seed=1)
    odd, row = numbers(24, 17, seed=2), numbers(9, 33)
    return {
        "a matmul of odd sizes, in tiles": (lambda: data(x) @ data(odd), TILED, lambda: x @ odd),
        "sums of odd rows": (lambda: data(row).sum(1), SUM_OF_ROWS, lambda: row.sum(1)),
        "maxima of short rows": (
            lambda: data(row[:, :7]).max(1), SUM_OF_ROWS, lambda: row[:, :7].max(1)),
        **{
            name: (lambda axis=axis: data(x).sum(axis), opts, lambda axis=axis: x.sum(axis))
            for name, (axis, opts) in SUMS.items()
        },
        "a shared sum of products, one operand in a panel": (
            lambda: data(x) @ data(y),
            [Opt(GLOBAL, 0), Opt(LOCAL, 1, 5), Opt(GROUP, 3, 8), Opt(STAGE, 0, 1)],
            lambda: x @ y,
        ),
        "in place": (
            lambda: (t := data(x[:37, 0])).assign(t * 3),
            [Opt(GLOBAL, 0), Opt(LOCAL, 0, 8)],
            lambda: x[:37, 0] * 3,
        ),
        "in place, one result for all threads": (
            lambda: (t := data(x[:, 0])).assign(t + data(x).sum(axis=1)),
            [Opt(GLOBAL, 0), Opt(GROUP, 1, 8)],
            lambda: x[:, 0] + x.sum(1),
        ),
        "a whole axis as threads": (
            lambda: data(x[:, 0]) * 2,
            [Opt(LOCAL, 0, 0)],
            lambda: x[:, 0] * 2,
        ),
        "a panel of what is computed from the operand": (
            lambda: data(x) @ (data(x.T) + 1),
            [Opt(GLOBAL, 1), Opt(LOCAL, 0, 8), Opt(STAGE, 0, 2)],
            lambda: x @ (x.T + 1),
        ),
        "bools": (
            lambda: (data(x) > 3).any(axis=1),
            [Opt(GLOBAL, 0), Opt(GROUP, 1, 8)],
            lambda: (x > 3).any(1),
        ),
        "lanes": (
            lambda: data(x[:16]).sum(0),
            [Opt(VECTOR, 0, 4), Opt(GROUP, 1, 4)],
            lambda: x[:16].sum(0),
        ),
        "half": (
            lambda: data(x.astype(np.float16)).max(axis=1),
            [Opt(GLOBAL, 0), Opt(GROUP, 1, 8)],
            lambda: x.max(1),
        ),
    }  # fmt: skip


def shared_work(device: str) -> dict[str, tuple[Callable[[], Tensor], list[Opt], np.ndarray]]:
    """Kernels that are wrong without any of their barriers."""
    x, y, long = numbers(33, 48) + 5, numbers(48, 33, seed=1) + 5, numbers(3, 130) + 5

    def data(array: np.ndarray) -> Tensor:
        return filled(array, device)

    return {
        "matmul": (lambda: data(x) @ data(y), TILED, x @ y),
        "row sum": (lambda: data(x).sum(axis=1), [Opt(GLOBAL, 0), Opt(GROUP, 1, 8)], x.sum(1)),
        "sum in two panels": (
            lambda: data(long).sum(1), [Opt(GLOBAL, 0), Opt(GROUP, 1, 64)], long.sum(1)),
        "softmax": (lambda: data(x).softmax(), SOFTMAX, softmax(x)),
        "rows in turns": (lambda: data(x).sum(axis=1), [Opt(GROUP, 1, 8)], x.sum(1)),
    }  # fmt: skip


def graphs(device: str) -> dict[str, tuple[Callable[[], Tensor], np.ndarray]]:
    """Tensors that are one kernel each, and their values."""

    def data(array: np.ndarray) -> Tensor:
        return filled(array, device)

    x, y, w = numbers(35, 37), numbers(9, 13, seed=1), numbers(13, 11, seed=2)
    places = np.array([3, 0, 34, 3, 7], np.int32)
    centred = x - x.sum(1, keepdims=True)
    return {
        "matmul": (lambda: data(y) @ data(w), y @ w),
        "elementwise": (lambda: data(x) * 2 + 1, x * 2 + 1),
        "transposed": (lambda: (data(x).T + 0).contiguous(), x.T),
        "row sum": (lambda: data(x).sum(axis=1), x.sum(1)),
        "column maximum": (lambda: data(x).max(axis=0), x.max(0)),
        "sum": (lambda: data(x).sum(), x.sum()),
        "running sums of rows": (lambda: data(x).cumsum(1) * 2, x.cumsum(1) * 2),
        "running maxima of columns": (
            lambda: data(x[:, :8]).cummax(0)[0],
            np.maximum.accumulate(x[:, :8]),
        ),
        "rows by number": (lambda: data(x)[filled(places, device)], x[places]),
        "two reduces": (
            lambda: ((t := data(x)) - t.sum(axis=1, keepdim=True)).square().sum(axis=1),
            (centred**2).sum(1),
        ),
        "padded": (lambda: data(x).pad(((1, 2), (3, 1))) + 1, np.pad(x, ((1, 2), (3, 1))) + 1),
        "in place": (lambda: (t := data(x)).assign(t * 3), x * 3),
    }


def random_opts(kernel: UOp, rng: random.Random, target: Target) -> list[Opt]:
    """Up to eight Opts that are legal one after the other, on a device with blocks."""
    opts: list[Opt] = []
    arguments = [u.arg for u in kernel.toposort() if u.op is Ops.DEFINE_GLOBAL]
    for _ in range(25):
        loops = len(axes(kernel))
        if loops == 0 or len(opts) == 8:
            break
        axis = rng.randrange(loops)
        opt = rng.choice([
            Opt(GLOBAL, axis), Opt(GLOBAL, axis),
            *[Opt(LOCAL, axis, rng.choice([0, 2, 3, 4, 8]))] * 3,
            *[Opt(GROUP, axis, rng.choice([0, 2, 4, 5, 8]))] * 3,
            *[Opt(STAGE, rng.randrange(-1, loops), rng.choice(arguments))] * 3,
            Opt(SPLIT, axis, rng.choice([2, 3, 8])),
            Opt(UPCAST, axis, rng.choice([2, 3])),
            Opt(VECTOR, axis, rng.choice([2, 4])),
            Opt(UNROLL, axis, rng.choice([0, 2])),
            Opt(OptOps.REORDER, tuple(rng.sample(range(loops), loops))),
        ])  # fmt: skip
        try:
            kernel = apply_opt(kernel, opt, target)
        except KernelOptError:
            continue
        opts.append(opt)
    return opts
