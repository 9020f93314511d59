"""Rows that learn: gradients, a training step of two networks, and Adam by itself."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from benchmarks.work import Arrays, Must, Work, normal, torch
from examples.gpt import GPT


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


def batchnorm(library: Any, x: Any) -> Any:
    nn = importlib.import_module(f"{library.__name__}.nn")
    return nn.BatchNorm(x.shape[1], affine=False, track_running_stats=False)(x)


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
            values = library.from_numpy(weights(name, tuple(parameter.shape)))
            parameter.data = values.to(parameter.device)
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


def words(batch: int, length: int, vocabulary: int) -> Callable[[], Arrays]:
    """Texts as numbers, and the word that comes after each of theirs."""

    def make() -> Arrays:
        text = np.random.default_rng(0).integers(0, vocabulary, (batch, length + 1))
        return text[:, :-1].astype(np.int32), text[:, 1:].reshape(-1).astype(np.int32)

    return make


def gpt_layers(
    nn: Any, tensor: Any, width: int, layers: int, heads: int, context: int, vocabulary: int
) -> list[Any]:
    """The network of examples/gpt.py."""
    if tensor:
        model = GPT(width, layers, heads, context, vocabulary)
        return [model, lambda scores: scores.flatten(0, 1)]

    class Position(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.position = nn.Embedding(context, width)

        def forward(self, x: Any) -> Any:
            return x + self.position.weight

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.inputs = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
            self.out = nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            normal = self.norm(x)
            q, k, v = (
                layer(normal).reshape(*x.shape[:2], heads, -1).transpose(1, 2)
                for layer in self.inputs
            )
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return x + self.out(mixed.transpose(1, 2).reshape(x.shape))

    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, 4 * width)
            self.gelu, self.down = nn.GELU("tanh"), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            return x + self.down(self.gelu(self.up(self.norm(x))))

    blocks = [half() for _ in range(layers) for half in (Attention, Perceptron)]
    return [nn.Embedding(vocabulary, width), Position(), *blocks, nn.LayerNorm(width),
            nn.Linear(width, vocabulary), nn.Flatten(0, 1)]  # fmt: skip


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
