"""Random lists of loop primitives, and kernels to apply them to: those that people really write,
and those of whole training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import numpy as np

from tests.fuzz.programs import buffer
from tinyframe import nn
from tinyframe.codegen import Compilation, canonicalize_loops, get_program, simplify
from tinyframe.codegen.optimize.loops import (
    KernelOptError,
    Opt,
    OptOps,
    apply_opt,
    apply_opts,
    axes,
)
from tinyframe.device import Device
from tinyframe.nn import optim
from tinyframe.nn.state import get_parameters
from tinyframe.schedule import create_schedule
from tinyframe.search.neighbours import neighbours
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import Ops, UOp, extent

# those for blocks of threads are tried in tests/backends/test_blocks.py
OPS = [op for op in OptOps if op not in (OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP)]
SIZES = [0, 1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 16, 32]


def random_opt(rng: Random, kernel: UOp) -> Opt:
    """Any Opt, mostly one that makes sense: axes out of range and odd sizes are in it too."""
    loops, arguments = axes(kernel), [u.arg for u in kernel.toposort() if u.op is Ops.DEFINE_GLOBAL]
    op = rng.choice([*OPS, OptOps.UPCAST, OptOps.VECTOR, OptOps.STAGE, OptOps.SPLIT])
    axis = rng.randint(-1, len(loops)) if rng.random() < 0.2 else rng.randrange(max(len(loops), 1))
    if op is OptOps.REORDER:
        order = list(range(len(loops) + (rng.random() < 0.05)))
        rng.shuffle(order)
        return Opt(op, tuple(order))
    if op is OptOps.THREAD:
        return Opt(op, 0 if rng.random() < 0.7 else axis)
    if op is OptOps.STAGE:
        return Opt(op, rng.randint(-1, axis), rng.choice(arguments) + (rng.random() < 0.05))
    sizes = [*SIZES, extent(loops[axis])] if 0 <= axis < len(loops) else SIZES
    return Opt(op, axis, rng.choice(sizes))


def tidied(ast: UOp) -> UOp:
    """A kernel as it is when Opts are applied to it."""
    job = Compilation(Device["CPU"].renderer, [])
    return canonicalize_loops(simplify(ast, job), job)


def random_opts(rng: Random, kernel: UOp, most: int = 7) -> tuple[list[Opt], int]:
    """A legal list, and how many Opts were refused on the way. Each is refused by a
    KernelOptError."""
    opts: list[Opt] = []
    refused = 0
    kernel = tidied(kernel)
    for _ in range(rng.randint(1, most)):
        opt = random_opt(rng, kernel)
        try:
            kernel = apply_opt(kernel, opt)
        except KernelOptError:
            refused += 1
            continue
        opts.append(opt)
    return opts, refused


def wandering_opts(rng: Random, ast: UOp, steps: int) -> list[Opt]:
    """A legal list that a search may come to: so many changes away from the plan's."""
    kernel, renderer = tidied(ast), Device["CPU"].renderer
    opts = tuple(get_program(ast, renderer).opts)
    for _ in range(steps):
        others = neighbours(kernel, opts, renderer.target)
        rng.shuffle(others)
        opts = next((o for o in others if why_illegal(kernel, o) is None), opts)
    return list(opts)


def why_illegal(kernel: UOp, opts: Iterable[Opt]) -> str | None:
    """What the KernelOptError says; None of a legal list."""
    try:
        apply_opts(kernel, opts)
    except KernelOptError as error:
        return str(error)
    return None


# ---- kernels that people really write ------------------------------------------------------------


def data(*shape: int, positive: bool = False) -> Tensor:
    """A Tensor of small whole floats on memory of its own."""
    rng = np.random.default_rng(sum(shape))
    numbers = rng.integers(1 if positive else -3, 4, shape).astype(np.float32)
    return Tensor._of(buffer(numbers, "CPU").reshape(shape))


def window_conv(x: UOp, w: UOp, stride: int = 1, pad: int = 1, dilation: int = 1) -> UOp:
    """(n, c, h, w) by (o, c, k, k), from WINDOWs, a product and a sum."""
    k = w.shape[-1]
    n, c = x.shape[:2]
    x = x.pad(((0, 0), (0, 0), (pad, pad), (pad, pad)))
    x = x.window(2, k, stride, dilation).window(3, k, stride, dilation)  # (n, c, y, x, ky, kx)
    y_size, x_size = x.shape[2:4]
    x = x.reshape((n, 1, c, y_size, x_size, k, k)).expand((n, w.shape[0], c, y_size, x_size, k, k))
    w = w.reshape((1, w.shape[0], c, 1, 1, k, k)).expand(x.shape)
    return (x * w).reduce_axis(Ops.ADD, (2, 5, 6)).reshape((n, w.shape[1], y_size, x_size))


def _conv(size: int, stride: int, dilation: int = 1) -> Tensor:
    x, w = data(2, 3, size, size), data(4, 3, 3, 3)
    return Tensor._of(window_conv(x.uop, w.uop, stride, dilation=dilation))


def _conv_backward(size: int, stride: int, by_weight: bool) -> Tensor:
    x, w = data(2, 3, size, size), data(4, 3, 3, 3)
    y = Tensor._of(window_conv(x.uop, w.uop, stride), True)
    return (y * data(*y.shape)).sum().gradient(w if by_weight else x)[0]


def _pool(x: Tensor, size: int, stride: int) -> Tensor:
    windows = x.uop.window(2, size, stride).window(3, size, stride)
    return Tensor._of(windows.reduce_axis(Ops.MAX, (4, 5)).reshape(windows.shape[:4]), True)


def _pool_backward(size: int, window: int, stride: int) -> Tensor:
    x = data(1, 2, size, size)
    y = _pool(x, window, stride)
    return (y * data(*y.shape)).sum().gradient(x)[0]


def _layernorm(rows: int, columns: int) -> Tensor:
    x = data(rows, columns)
    centred = x - x.mean(axis=1, keepdim=True)
    return centred / ((centred * centred).mean(axis=1, keepdim=True) + 1e-5).sqrt()


def _adam(size: int) -> list[Tensor]:
    parameter, gradient, m, v = data(size), data(size), data(size), data(size, positive=True)
    m.assign(m * 0.5 + gradient * 0.5)
    v.assign(v * 0.75 + gradient * gradient * 0.25)
    parameter.assign(parameter - m / (v.sqrt() + 1) * 0.5)
    return [parameter, m, v]


def _attention(rows: int, width: int) -> Tensor:
    q, k, v = data(2, rows, width), data(2, rows, width), data(2, rows, width)
    return (q @ k.transpose(1, 2) * 0.25).softmax() @ v


REAL: dict[str, Callable[[], Tensor | list[Tensor]]] = {
    "matmul 17x13x11": lambda: data(17, 13) @ data(13, 11),
    "matmul 32x32x32": lambda: data(32, 32) @ data(32, 32),
    "matmul of a transposed one": lambda: data(13, 17).T @ data(11, 13).T,
    "matrix times vector": lambda: data(19, 23) @ data(23),
    "batched matmul": lambda: data(3, 5, 6) @ data(3, 6, 7),
    "conv, pad 1": lambda: _conv(7, 1),
    "conv, stride 2": lambda: _conv(9, 2),
    "conv, dilation 2": lambda: _conv(8, 1, 2),
    "conv by input": lambda: _conv_backward(6, 1, False),
    "conv by input, stride 2": lambda: _conv_backward(7, 2, False),
    "conv by weight": lambda: _conv_backward(6, 1, True),
    "conv by weight, stride 2": lambda: _conv_backward(7, 2, True),
    "softmax": lambda: data(9, 21).softmax(),
    "layernorm": lambda: _layernorm(7, 19),
    "max-pool": lambda: _pool(data(1, 2, 9, 9), 3, 2),
    "max-pool backward": lambda: _pool_backward(7, 3, 2),
    "max-pool backward, no overlap": lambda: _pool_backward(8, 2, 2),
    "column sum": lambda: data(23, 19).sum(axis=0),
    "sum of all": lambda: data(11, 13).sum(),
    "transposed copy": lambda: data(17, 9).T.contiguous(),
    "transposed copy of three axes": lambda: data(5, 6, 7).permute(2, 0, 1).contiguous(),
    "adam": lambda: _adam(17),
    "attention": lambda: _attention(7, 5),
    "mean and variance": lambda: [(x := data(13, 9)).mean(axis=0), x.var(axis=0)],
    "flipped and shifted": lambda: data(18).flip(0).pad(((2, 3),)) + data(23),
}


def _mlp_step() -> list[Tensor]:
    first, second = nn.Linear(20, 17), nn.Linear(17, 10)
    parameters = [*get_parameters(first), *get_parameters(second)]
    optimizer = optim.Adam(parameters, lr=0.01)
    Tensor.realize(*parameters, *optimizer.buffers)
    return _step(lambda x: second(first(x).relu()), data(6, 20), optimizer)


def _cnn_step() -> list[Tensor]:
    narrow, wide = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 3)
    norm, last = nn.BatchNorm(6), nn.Linear(24, 10)
    parameters = [p for layer in (narrow, wide, norm, last) for p in get_parameters(layer)]
    # Not Adam: what comes before the norm has gradients of rounding errors, which it makes large.
    optimizer = optim.SGD(parameters, lr=0.1, momentum=0.9)
    Tensor.realize(*parameters, *optimizer.buffers)

    def model(x: Tensor) -> Tensor:
        x = narrow(x).relu().max_pool2d(2)
        return last(norm(wide(x)).relu().flatten(1))

    return _step(model, data(6, 1, 9, 9), optimizer)


def _step(model: Callable[[Tensor], Tensor], x: Tensor, optimizer: optim.Optimizer) -> list[Tensor]:
    """What one step of training realizes, not realized yet."""
    labels = Tensor([3, 1, 9, 0, 1, 4]).realize()
    with Tensor.train():
        loss = model(x).sparse_categorical_crossentropy(labels)
        loss.backward()
        return [loss, *optimizer.schedule_step()]


TRAINING: dict[str, Callable[[], list[Tensor]]] = {"MLP": _mlp_step, "CNN": _cnn_step}


def training_kernels(name: str) -> list[tuple[UOp, list[np.ndarray]]]:
    """The kernels of a training step, each with what its arguments hold when it runs."""
    Tensor.manual_seed(1)
    return with_arguments([t.uop for t in TRAINING[name]()])


def real_kernels(name: str) -> list[tuple[UOp, list[np.ndarray]]]:
    """The kernels of one of them, each with what its arguments hold when it runs."""
    tensors = REAL[name]()
    roots = [t.uop for t in (tensors if isinstance(tensors, list) else [tensors])]
    return with_arguments(roots)


def with_arguments(roots: list[UOp]) -> list[tuple[UOp, list[np.ndarray]]]:
    """The kernels of a graph, each with what its arguments hold before it runs.

    What earlier kernels leave is computed by the PYTHON device without Opts.
    """
    from tests.fuzz.batch import interpret
    from tinyframe.dtype import to_np_dtype

    items, _, _ = create_schedule(UOp.sink(*roots))
    contents: dict[int, np.ndarray] = {}
    found = []
    for item in items:
        assert item.ast.op is Ops.SINK
        for b in item.bufs:
            if id(b) not in contents:
                made = (
                    b.numpy().copy() if b.is_allocated() else np.zeros(b.size, to_np_dtype(b.dtype))
                )
                contents[id(b)] = made
        arguments = [contents[id(b)] for b in item.bufs]
        found.append((item.ast, [a.copy() for a in arguments]))
        for b, a in zip(item.bufs, interpret(item.ast, arguments, []), strict=True):
            contents[id(b)] = a
    return found
