"""Which rows are run, in tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.convolutions import conv, mean_of_relu, transposed
from benchmarks.functions import (
    attention_numpy,
    elementwise,
    gelu,
    layernorm,
    softmax,
    total,
)
from benchmarks.places import added, of_an_embedding, running, sort, topk
from benchmarks.products import (
    l1_distance,
    matmul,
    max_plus,
    mean_of_product,
    plus_one,
    three_factors,
    three_matrices,
)
from benchmarks.training import (
    adam_ours,
    adam_theirs,
    batchnorm,
    cnn_layers,
    digits,
    forward_backward,
    gpt_layers,
    mlp_layers,
    stateful,
    train,
    words,
)
from benchmarks.work import Work, normal, torch

Sizes = Callable[[int], int]  # a size, or what is left of it in a test


def products(size: Sizes) -> Iterator[Work]:
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
    yield plus_one(size(1024), beside="matmul 1024")
    half = (size(512),) * 2
    yield matmul("512 float16", half, half, dtype=np.float16)
    yield l1_distance(size(512), beside="matmul 512")
    yield max_plus(size(512), beside="matmul 512")
    yield three_factors(size(512), beside="matmul 512")
    # in pairs this is two small products; as one sum, in which some libraries do it, 256⁴ terms
    yield three_matrices(size(256))
    yield mean_of_product(size(1024))


def convolutions(size: Sizes) -> Iterator[Work]:
    images, filters = (size(64), 32, 28, 28), (64, 32, 3, 3)
    for wanted in ("forward", "by weight", "by input"):
        yield conv("3×3", images, filters, wanted, quick=wanted == "forward")
    yield mean_of_relu(images, filters)
    yield conv("3×3 32×256×14×14", (size(32), 256, 14, 14), (256, 256, 3, 3))
    yield conv("3×3 1×64×56×56", (1, 64, 56, 56), (64, 64, 3, 3))
    yield conv("8 groups", (size(32), 64, 28, 28), (64, 8, 3, 3), groups=8)
    yield conv("depthwise 32×128×14×14", (size(32), 128, 14, 14), (128, 1, 3, 3), groups=128)
    yield conv("dilation 2", images, filters, dilation=2)
    yield transposed("4×4 stride 2", (size(32), 64, 14, 14), (64, 32, 4, 4), stride=2)
    for batch in (32, 64):
        yield conv(f"stride 2 batch {batch}", (size(batch), 32, 28, 28), filters, "by input", 2)


def rows_and_columns(size: Sizes) -> Iterator[Work]:
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


def networks(size: Sizes) -> Iterator[Work]:
    head = (1, 8, size(512), 64)
    yield Work(
        "attention", normal(head, head, head),
        lambda q, k, v: q.scaled_dot_product_attention(k, v),
        lambda q, k, v: torch().nn.functional.scaled_dot_product_attention(q, k, v),
        ("torch", 0.9), 4.0 * 8 * size(512) ** 2 * 64, 16.0 * math.prod(head),
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


def in_order(size: Sizes) -> Iterator[Work]:
    """What goes along an axis element by element, and what is written to places that are data."""
    n = size(1000)
    yield running("cumsum 1000² rows", (n, n), 1)
    yield running("cumsum 1000² columns", (n, n), 0)
    yield running("cumsum 1 M", (size(1_000_000),), 0)
    yield sort("sort 64×1024", (size(64), 1024))
    yield sort("sort 100,000", (size(100_000),), quick=True)
    yield topk("topk 8 of 64×1024", (size(64), 1024), 8)
    many = size(100_000)
    yield added("100,000 numbers to 1000 places", 1000, 0, many)
    yield added("100,000 numbers to 100,000 places", many, 0, many)
    yield added("8192 rows of 256 to 32,000", size(32_000), 256, size(8192), quick=True)
    yield of_an_embedding("embedding gradient 32,000×256", size(32_000), 256, size(4096),
                          ("torch", 1.0))  # fmt: skip
    many, text = size(8000), 128
    yield Work("Transformer training step", words(size(16), text, many), must=("torch", 0.67),
               **train(partial(gpt_layers, width=128, layers=2, heads=4, context=text,
                               vocabulary=many), "Adam", 1e-3))  # fmt: skip
    yield Work("GPT training step", words(size(8), text, 256), must=("torch", 0.67),
               **train(partial(gpt_layers, width=256, layers=4, heads=8, context=text,
                               vocabulary=256), "AdamW", 1e-3))  # fmt: skip


def small_ones(size: Sizes) -> Iterator[Work]:
    """What one core is enough for."""
    for n in (64, 128, 256):
        must = 0.9 if n == 256 else 0.8  # below, the call counts, not the product
        yield matmul(f"{n}", (size(n),) * 2, (size(n),) * 2, must=("torch", must), quick=n == 128)
    k, n = size(16384), size(4096)
    yield matmul("64×16384 · 16384×64", (64, k), (k, 64), quick=True)
    yield matmul("matrix × vector", (n, n), (n,))
    yield matmul("vector × matrix", (n,), (n, n))
    images, filters = (size(16), 32, 28, 28), (64, 32, 3, 3)
    for name, options in (("stride 2", {"stride": 2}), ("dilation 2", {"dilation": 2})):
        for wanted in ("by weight", "by input"):
            yield conv(name, images, filters, wanted, **options)
    pooled = (images[0], 32, 14, 14)
    yield forward_backward("max-pool 2×2", images, lambda _, x: x.max_pool2d(2),
                           lambda t, x: t.nn.functional.max_pool2d(x, 2), pooled)  # fmt: skip
    yield softmax(size(2048), 0)
    yield total("column sums", 0, n)
    yield forward_backward(
        "BatchNorm", images, lambda lib, x: batchnorm(lib, x),
        lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    )  # fmt: skip
    rows = (size(2048), size(2048))
    yield forward_backward("layernorm", rows, lambda _, x: x.layernorm(),
                           lambda t, x: t.nn.functional.layer_norm(x, x.shape[-1:]))  # fmt: skip


def growth(size: Sizes) -> Iterator[Work]:
    """How time grows: a product, and a chain of elementwise work."""
    for n in (64, 128, 256, 512, 1024, 2048, 4096):
        yield matmul(f"{n:,}", (size(n),) * 2, (size(n),) * 2, must=None, quick=n in (64, 512))
    for power in range(3, 9):
        yield elementwise(size(10**power), quick=power in (3, 6))


@dataclass(frozen=True)
class Table:
    """Rows that run on the same cores, all that THREADS allows or `cores`, and who is measured
    beside tinyframe."""

    parts: tuple[Callable[[Sizes], Iterator[Work]], ...]
    cores: int | None = None
    others: tuple[str, ...] = ("numpy", "torch", "tinygrad")

    def rows(self, shrink: int = 1) -> list[Work]:
        return [row for part in self.parts for row in part(lambda n: max(1, n // shrink))]


TABLES = {
    "all cores": Table((products, convolutions, rows_and_columns, networks)),
    "in order": Table((in_order,), others=("numpy", "torch")),
    "one core": Table((small_ones,), cores=1),
    "growth": Table((growth,), others=("numpy", "torch")),
}
