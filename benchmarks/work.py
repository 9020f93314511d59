"""What is compared: one row for each piece of work, with how each library does it.

A row makes its inputs with NumPy, once for all. Each library then gets a function that does the
work on them, again and again, and gives the result (or a tuple of them) to compare. `ours` is
tinyframe's and tinygrad's, which share these names; `theirs` is PyTorch's, eager.

`shrink` divides the sizes, for tests.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]
Must = tuple[str, float] | None


@dataclass(frozen=True)
class Work:
    """One row.

    must: whose speed is to be reached, and how many times. numpy: takes out=, and is timed too.
    reference: NumPy's result where it is only to compare with. ready: theirs takes out=, memory
    that is there. quick: it is in the short run.
    """

    name: str
    inputs: Callable[[], Arrays]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    must: Must = None
    flops: float = 0.0
    bytes: float = 0.0
    numpy: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    ready: bool = False
    quick: bool = False


def normal(*shapes: tuple[int, ...]) -> Callable[[], Arrays]:
    def make() -> Arrays:
        rng = np.random.default_rng(0)
        return tuple(rng.standard_normal(shape, dtype=np.float32) for shape in shapes)

    return make


def torch() -> Any:
    return importlib.import_module("torch")


# ---- products and sums --------------------------------------------------------------------------


def matmul(
    name: str, a: tuple[int, ...], b: tuple[int, ...], how: str = "ab",
    must: Must = ("torch", 0.8), quick: bool = False, numpy: bool = True,
) -> Work:  # fmt: skip
    """A product; `how` says which operand is stored transposed: ab, abt, atb."""

    def product(x: Any, y: Any) -> Any:
        return (x.T if how == "atb" else x) @ (y.T if how == "abt" else y)

    m, k = (a[-1], a[-2]) if how == "atb" else (a[-2] if len(a) > 1 else 1, a[-1])
    n = b[-2] if how == "abt" else b[-1] if len(b) > 1 else 1
    batch = math.prod(a[:-2])
    flops = 2.0 * batch * m * n * k
    timed = (lambda x, y, out: np.matmul(x, y, out=out)) if numpy and how == "ab" else None
    return Work(f"matmul {name}", normal(a, b), product, product, must, flops,
                4.0 * batch * (m * k + k * n + m * n), timed, product, quick=quick)  # fmt: skip


def total(name: str, axis: int | None, n: int, quick: bool = False, numpy: bool = True) -> Work:
    def add_up(x: Any) -> Any:
        return x.sum() if axis is None else x.sum(axis)

    timed = (lambda x, out: np.sum(x, axis, out=out)) if numpy else None
    return Work(name, normal((n, n)), add_up, add_up, ("torch", 1.0), n * n, 4.0 * n * n,
                timed, add_up, quick=quick)  # fmt: skip


# ---- convolution --------------------------------------------------------------------------------

ImageShape = tuple[int, int, int, int]


def conv_result(
    x: ImageShape, w: ImageShape, stride: int, dilation: int
) -> tuple[ImageShape, float]:
    """The result's shape with padding 1, and the operations."""
    height, width = (
        (size + 2 - dilation * (window - 1) - 1) // stride + 1
        for size, window in zip(x[2:], w[2:], strict=True)
    )
    shape = (x[0], w[0], height, width)
    return shape, 2.0 * math.prod(shape) * math.prod(w[1:])


def conv(name: str, x: ImageShape, w: ImageShape, wanted: str, stride: int = 1, dilation: int = 1,
         quick: bool = False) -> Work:  # fmt: skip
    """A convolution with padding 1: `wanted` is forward, by weight, or by input."""
    out, flops = conv_result(x, w, stride, dilation)
    options = {"stride": stride, "dilation": dilation, "padding": 1}
    plain = stride == dilation == 1

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
        geometry = ([stride] * 2, [1, 1], [dilation] * 2, False, [0, 0], 1)
        return torch().ops.aten.convolution_backward(g, x, w, None, *geometry, mask)[which]

    inputs, ours, theirs, reference = {
        "forward": ((x, w), forward,
                    lambda x, w: torch().nn.functional.conv2d(x, w, **options), conv_numpy),
        "by weight": ((x, out), by_weight, lambda v, g: back(g, v, torch().empty(w), 1),
                      lambda x, g: np.einsum("nchwij,nohw->ocij", windows(x), g, optimize=True)),
        "by input": ((w, out), by_input, lambda v, g: back(g, torch().empty(x), v, 0),
                     lambda w, g: conv_numpy(g, w.swapaxes(0, 1)[:, :, ::-1, ::-1])),
    }[wanted]  # fmt: skip
    moved = 4.0 * sum(map(math.prod, (x, w, out)))
    return Work(f"conv {name} {wanted}", normal(*inputs), ours, theirs, ("torch", 0.8), flops,
                moved, reference=reference if plain else None, quick=quick)  # fmt: skip


def windows(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))


def conv_numpy(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,ocij->nohw", windows(x), w, optimize=True)


# ---- functions of rows --------------------------------------------------------------------------


def softmax_numpy(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layernorm_numpy(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def softmax(n: int, axis: int, quick: bool = False) -> Work:
    return Work(f"softmax {n}² axis {axis}", normal((n, n)), lambda x: x.softmax(axis),
                lambda x, out: torch().softmax(x, axis, out=out), ("torch", 1.0), 5.0 * n * n,
                8.0 * n * n, None, lambda x: softmax_numpy(x, axis), True, quick)  # fmt: skip


def layernorm(n: int) -> Work:
    statistics: list[Any] = []

    def theirs(x: Any, out: Any) -> Any:
        if not statistics:
            statistics.extend(torch().empty(2, n, 1))
        torch().ops.aten.native_layer_norm.out(
            x, [n], None, None, 1e-5, out0=out, out1=statistics[0], out2=statistics[1])  # fmt: skip
        return out

    return Work(f"layernorm {n}² rows", normal((n, n)), lambda x: x.layernorm(), theirs,
                ("torch", 1.0), 7.0 * n * n, 8.0 * n * n, None, layernorm_numpy, True)  # fmt: skip


def gelu(erf: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))


def attention_numpy(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax_numpy(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v


# ---- gradients and training ---------------------------------------------------------------------


def library_of(x: Any) -> Any:
    return importlib.import_module(type(x).__module__.partition(".")[0])


def training(library: Any) -> AbstractContextManager:
    """Where BatchNorm learns its statistics."""
    tensor = library.Tensor
    return tensor.train() if hasattr(tensor, "train") else library.Context(TRAINING=1)


def stateful(make: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose parameters `make(library)` makes at the first call, and that keeps them."""
    steps: dict[str, Callable[..., Any]] = {}

    def run(*inputs: Any) -> Any:
        library = library_of(inputs[0])
        if library.__name__ not in steps:
            steps[library.__name__] = make(library)
        return steps[library.__name__](*inputs)

    return run


def forward_backward(
    name: str, x: tuple[int, ...], ours: Callable[..., Any], theirs: Callable[..., Any],
    out: tuple[int, ...] | None = None, must: Must = None,
) -> Work:  # fmt: skip
    """A function of (library, x): its result, and the gradient by x of (result · g).sum()."""

    def run_ours(x: Any, g: Any) -> Any:
        library = library_of(x)
        with training(library):
            y = ours(library, x)
            return y, y.gradient(x, gradient=g)[0]

    def run_theirs(x: Any, g: Any) -> Any:
        x = x.detach().requires_grad_()
        y = theirs(torch(), x)
        return y, torch().autograd.grad(y, x, g)[0]

    moved = 8.0 * math.prod(x) + 8.0 * math.prod(out or x)
    return Work(f"{name} forward, backward", normal(x, out or x), run_ours, run_theirs, must,
                bytes=moved)  # fmt: skip


def weights(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The same values in every library."""
    if len(shape) < 2:
        return np.full(shape, 0.0 if name.endswith("bias") else 1.0, np.float32)
    values = np.random.default_rng(shape).standard_normal(shape, dtype=np.float32)
    return values / np.float32(math.sqrt(math.prod(shape[1:])))


def train(layers: Callable[[Any, Any], list[Any]], optimizer: str, lr: float) -> dict[str, Any]:
    """How to learn from (x, y): a step of ours and of theirs, which give the loss."""

    def ours(library: Any) -> Callable[..., Any]:
        nn = importlib.import_module(f"{library.__name__}.nn")
        state = importlib.import_module(f"{library.__name__}.nn.state")
        optim = importlib.import_module(f"{library.__name__}.nn.optim")
        model = layers(nn, library.Tensor)
        for name, parameter in state.get_state_dict(model).items():
            if name.endswith(("weight", "bias")):
                parameter.assign(library.Tensor(weights(name, parameter.shape))).realize()
        learner = getattr(optim, optimizer)(state.get_parameters(model), lr=lr)

        def step(x: Any, y: Any) -> Any:
            with training(library):
                learner.zero_grad()
                loss = x.sequential(model).cross_entropy(y).backward()
                return loss.realize(*learner.schedule_step())

        return step

    def theirs(library: Any) -> Callable[..., Any]:
        nn = library.nn
        model = nn.Sequential(*layers(nn, None))
        for name, parameter in model.named_parameters():
            parameter.data = library.from_numpy(weights(name, tuple(parameter.shape)))
        learner = getattr(library.optim, optimizer)(model.parameters(), lr=lr)

        def step(x: Any, y: Any) -> Any:
            learner.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y.long())
            loss.backward()
            learner.step()
            return loss.detach()

        return step

    return {"ours": stateful(ours), "theirs": stateful(theirs)}


def digits(batch: int, *shape: int) -> Callable[[], Arrays]:
    def make() -> Arrays:
        rng = np.random.default_rng(0)
        images = rng.standard_normal((batch, *shape), dtype=np.float32)
        return images, rng.integers(0, 10, batch).astype(np.int32)

    return make


def mlp_layers(nn: Any, tensor: Any) -> list[Any]:
    relu = tensor.relu if tensor else nn.ReLU()
    return [nn.Linear(784, 128), relu, nn.Linear(128, 10)]


def cnn_layers(nn: Any, tensor: Any) -> list[Any]:
    """The network of examples/mnist_cnn.py."""
    relu = tensor.relu if tensor else nn.ReLU()
    pool = tensor.max_pool2d if tensor else nn.MaxPool2d(2)
    norm = nn.BatchNorm if tensor else nn.BatchNorm2d
    flat = (lambda x: x.flatten(1)) if tensor else nn.Flatten()
    return [
        nn.Conv2d(1, 32, 5), relu, nn.Conv2d(32, 32, 5), relu, norm(32), pool,
        nn.Conv2d(32, 64, 3), relu, nn.Conv2d(64, 64, 3), relu, norm(64), pool,
        flat, nn.Linear(576, 10),
    ]  # fmt: skip


def adam_ours(library: Any) -> Callable[..., Any]:
    optim = importlib.import_module(f"{library.__name__}.nn.optim")
    state: list[Any] = []

    def step(gradient: Any) -> Any:
        if not state:
            zeros = library.Tensor.zeros(*gradient.shape).contiguous().realize()
            zeros.requires_grad = True
            state.extend([zeros, optim.Adam([zeros], lr=1e-3)])
        parameter, learner = state
        parameter.grad = gradient
        with training(library):
            learner.step()
        return parameter[:16].contiguous()

    return step


def adam_theirs(library: Any) -> Callable[..., Any]:
    state: list[Any] = []

    def step(gradient: Any) -> Any:
        if not state:
            zeros = library.zeros_like(gradient, requires_grad=True)
            state.extend([zeros, library.optim.Adam([zeros], lr=1e-3)])
        state[0].grad = gradient
        state[1].step()
        return state[0].detach()[:16].clone()

    return step


# ---- the tables ---------------------------------------------------------------------------------


def all_cores(shrink: int = 1) -> Iterator[Work]:
    """The rows that use as many threads as there are."""

    def size(n: int) -> int:
        return max(1, n // shrink)

    for n in (512, 1024, 2048):
        m = size(n)
        yield matmul(f"{n}", (m, m), (m, m), must=("numpy", 1.0), quick=n < 2048)
    square = (size(1024),) * 2
    yield matmul("1024 A·Bᵀ", square, square, "abt")
    yield matmul("1024 Aᵀ·B", square, square, "atb")
    for n in (1000, 1023):
        yield matmul(f"{n}", (size(n),) * 2, (size(n),) * 2)
    yield matmul("512×784 · 784×128", (size(512), size(784)), (size(784), size(128)))
    yield matmul("64 × (128×64 · 64×128)", (size(64), 128, 64), (size(64), 64, 128))
    images, filters = (size(64), 32, 28, 28), (64, 32, 3, 3)
    for wanted in ("forward", "by weight", "by input"):
        yield conv("3×3", images, filters, wanted, quick=wanted == "forward")
    n = size(4096)
    yield softmax(n, -1, quick=True)
    yield layernorm(n)
    yield Work(
        "gelu chain", normal((n, n)), gelu(lambda x: x.erf()), gelu(lambda x: torch().erf(x)),
        ("torch", 3.0), 5.0 * n * n, 8.0 * n * n, reference=gelu(np.vectorize(math.erf)),
    )  # fmt: skip
    yield Work(
        "add", normal((n, n), (n, n)), lambda x, y: x + y,
        lambda x, y, out: torch().add(x, y, out=out), ("torch", 1.0), n * n, 12.0 * n * n,
        lambda x, y, out: np.add(x, y, out=out), lambda x, y: x + y, True, True,
    )  # fmt: skip
    yield total("sum", None, n)
    yield total("sum axis 0", 0, n, quick=True)
    yield total("sum axis 1", 1, n)
    head = (1, 8, size(512), 64)
    yield Work(
        "attention", normal(head, head, head),
        lambda q, k, v: q.scaled_dot_product_attention(k, v),
        lambda q, k, v: torch().nn.functional.scaled_dot_product_attention(q, k, v),
        ("torch", 0.8), 4.0 * 8 * size(512) ** 2 * 64, 16.0 * math.prod(head),
        reference=attention_numpy, quick=True,
    )  # fmt: skip
    count = size(10_000_000)
    yield Work("Adam step, 10 M", normal((count,)), stateful(adam_ours), stateful(adam_theirs),
               ("torch", 1.5), bytes=28.0 * count)  # fmt: skip
    flops = 6.0 * 32 * (784 * 128 + 128 * 10)
    yield Work("MLP training step", digits(32, 784), must=("torch", 3.0), flops=flops, quick=True,
               **train(mlp_layers, "SGD", 0.1))  # fmt: skip
    yield Work("CNN training step", digits(size(128), 1, 28, 28), must=("torch", 1.0),
               **train(cnn_layers, "Adam", 1e-3))  # fmt: skip


def one_core(shrink: int = 1) -> Iterator[Work]:
    """The rows that use one core."""

    def size(n: int) -> int:
        return max(1, n // shrink)

    for n in (64, 128, 256):
        yield matmul(f"{n}", (size(n),) * 2, (size(n),) * 2, numpy=False, quick=n == 128)
    k, n = size(16384), size(4096)
    yield matmul("64×16384 · 16384×64", (64, k), (k, 64), numpy=False, quick=True)
    yield matmul("matrix × vector", (n, n), (n,), numpy=False)
    yield matmul("vector × matrix", (n,), (n, n), numpy=False)
    images, filters = (size(16), 32, 28, 28), (64, 32, 3, 3)
    for name, options in (("stride 2", {"stride": 2}), ("dilation 2", {"dilation": 2})):
        for wanted in ("by weight", "by input"):
            yield conv(name, images, filters, wanted, **options)
    pooled = (images[0], 32, 14, 14)
    yield forward_backward("max-pool 2×2", images, lambda _, x: x.max_pool2d(2),
                           lambda t, x: t.nn.functional.max_pool2d(x, 2), pooled)  # fmt: skip
    yield softmax(size(2048), 0)
    yield total("column sums", 0, n, numpy=False)
    yield forward_backward(
        "BatchNorm",
        images,
        lambda lib, x: batchnorm(lib, x),
        lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    )
    rows = (size(2048), size(2048))
    yield forward_backward(
        "layernorm",
        rows,
        lambda _, x: x.layernorm(),
        lambda t, x: t.nn.functional.layer_norm(x, x.shape[-1:]),
    )


def batchnorm(library: Any, x: Any) -> Any:
    nn = importlib.import_module(f"{library.__name__}.nn")
    return nn.BatchNorm(x.shape[1], affine=False, track_running_stats=False)(x)


TABLES: dict[str, Callable[..., Iterator[Work]]] = {"all cores": all_cores, "one core": one_core}
