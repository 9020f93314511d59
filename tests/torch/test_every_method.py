"""Every public method of Tensor has a reference: a row here, or the file that tests it.

A row's key is the method's name, and the row calls the method by that name, so that none can be
forgotten: `test_no_method_is_without_a_reference`. Each row is compared with PyTorch, the values on
the device, the gradients as graphs; more of their arguments and inputs are in the files beside.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from tests.against_torch import assert_agree, normal
from tests.course.refresh import public_methods
from tests.elementwise import ALIASES, BINARY, UNARY
from tinyframe import Tensor

F = torch.nn.functional
TESTS = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """`call(method, *inputs)` with our method, and with PyTorch's; `theirs` where its name differs.

    inputs: arrays, or shapes of floats of which no two are equal. gradient: whether there is one.
    """

    inputs: Sequence[Any] = ((3, 4),)
    call: Callable[..., Any] = lambda method, *inputs: method(*inputs)
    theirs: Callable[..., Any] | None = None
    gradient: bool = True


def spread(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, (3, 4)).astype(np.float32)


PAIR = [(3, 4), (1, 4)]
INTS = [np.array([[5, -3, 0], [7, 2, -1]], np.int32), np.array([[3, 1, 2], [2, 3, 0]], np.int32)]
SHIFTED = [np.array([5, -3, 7], np.int32), np.array([3, 1, 0], np.int32)]
TRUTHS = [np.array([True, False, True, False]), np.array([True, True, False, False])]
MASK = np.array([[True, False, True, True]])
CLASSES = np.array([2, 0, 1])
PLACES = np.array([[0, 2, 1, 1], [2, 2, 0, 1]])
PROBABILITIES = [spread(0.1, 0.9), spread(0.1, 0.9)]
SYMMETRIC = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)


# ---- one result for each element, beside those in tests/elementwise.py ---------------------------

OTHER_ELEMENTWISE = {
    "lerp": Row([(3, 4), (1, 4)], lambda f, x, y: f(x, y, 0.25)),
    "clamp": Row(call=lambda f, x: f(x, min=-0.25)),
    "where": Row([MASK, (3, 4), (3, 1)], theirs=torch.where),
    "masked_fill": Row([(3, 4), MASK], lambda f, x, mask: f(x, mask, 0.5)),
    "allclose": Row(PAIR, lambda f, x, y: x * y * (f(x, x) + 2 * f(x, y))),
    "bitwise_not": Row(INTS[:1], gradient=False),
    "lshift": Row(SHIFTED, theirs=torch.bitwise_left_shift, gradient=False),
    "rshift": Row(SHIFTED, theirs=torch.bitwise_right_shift, gradient=False),
    "copy_": Row([(3, 4), (1, 4)], lambda f, x, y: f(x * 1, y), gradient=False),
    "fill_": Row(call=lambda f, x: f(x * 1, 0.5), gradient=False),
    "zero_": Row(call=lambda f, x: f(x * 1), gradient=False),
}  # fmt: skip

# ---- along axes ---------------------------------------------------------------------------------


def along(*arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda method, x: method(x, *arguments, **options)


REDUCE = {
    "amax": Row(call=along(1)), "amin": Row(call=along(1)),
    "any": Row([MASK], along(1), gradient=False), "all": Row([MASK], along(1), gradient=False),
    "std_mean": Row(call=lambda f, x: sum(f(x, 1)), theirs=torch.std_mean),
    "argmax": Row(call=along(1), gradient=False), "argmin": Row(call=along(1), gradient=False),
    "argsort": Row(call=along(1), gradient=False),
    "count_nonzero": Row(INTS[:1], along(1), gradient=False),
}  # fmt: skip

# ---- moved --------------------------------------------------------------------------------------

MOVEMENT = {
    "reshape": Row(call=along(2, -1)), "view": Row(call=along(2, -1)),
    "permute": Row([(2, 3, 4)], along(2, 0, 1)), "transpose": Row(call=along(0, 1)),
    "flip": Row(call=along((0, 1))),
    "expand": Row([(3, 1)], along(-1, 4)), "squeeze": Row([(3, 1)], along(1)),
    "unsqueeze": Row(call=along(1)), "flatten": Row([(2, 3, 4)], along(1)),
    "unflatten": Row(call=along(1, (2, -1))), "repeat": Row(call=along(2, 1, 3)),
    "repeat_interleave": Row(call=along(2, 1)), "unfold": Row(call=along(1, 3, 1)),
    "window": Row([(3, 7)], along(1, 3, 2), lambda x, *a: x.unfold(*a)),
    "chunk": Row(call=lambda f, x: f(x, 2, 1)[1]),
    "split": Row(call=lambda f, x: f(x, [1, 3], 1)[1]),
    "cat": Row([(3, 4), (1, 4)], lambda f, *xs: f(xs), torch.cat),
    "stack": Row([(3, 4), (3, 4)], lambda f, *xs: f(xs, dim=1), torch.stack),
    "pad": Row(call=along((1, 2), value=0.5), theirs=F.pad),
    "pad_to": Row(call=along(4, 6), theirs=lambda x, *_: F.pad(x, (0, 2, 0, 1))),
    "shrink": Row(call=along(((1, 3), None)), theirs=lambda x, _: x[1:3]),
    "shrink_to": Row(call=along(2, None), theirs=lambda x, *_: x[:2]),
    "rearrange": Row([(4, 6)], along("(a b) c -> b (c a)", a=2),
                     lambda x, *_, a: x.reshape(2, 2, 6).permute(1, 2, 0).reshape(2, 12)),
    "T": Row(call=lambda f, x: x.T), "t": Row(),
    "ravel": Row(), "expand_as": Row([(3, 1), (2, 3, 4)], lambda f, x, y: f(x, y) * y),
    "take_along_dim": Row([(3, 4), PLACES[:, :1]], lambda f, x, i: f(x, i, 0)),
    "index_copy": Row([(3, 4), CLASSES, (3, 3)], lambda f, x, i, y: f(x, 1, i, y)),
    "index_fill": Row([(3, 4), CLASSES], lambda f, x, i: f(x, 1, i, 0.5)),
    "isin": Row(INTS, theirs=torch.isin, gradient=False),
    "bincount": Row([CLASSES], gradient=False),
    "unique": Row([INTS[1]], lambda f, x: f(x, return_counts=True), gradient=False),
    "contiguous": Row(), "clone": Row(),
    "fuse": Row(call=lambda f, x: f(x / x.sum(1, True)), theirs=lambda x: x),
    "detach": Row(gradient=False),
    "scatter": Row([(3, 4), np.array([[0, 2, 1, 1]]), (1, 4)], lambda f, x, i, y: f(x, 0, i, y)),
    "scatter_add": Row([(3, 4), PLACES, (2, 4)], lambda f, x, i, y: f(x, 0, i, y)),
    "nonzero": Row(INTS[:1], gradient=False),
    "one_hot": Row([CLASSES], along(4), F.one_hot, False),
}  # fmt: skip

# ---- products and factorizations ----------------------------------------------------------------

ALGEBRA = {
    "dot": Row([(4,), (4,)]), "matmul": Row([(2, 3, 4), (4, 2)]),





    "qr": Row([SYMMETRIC], lambda f, x: f(x)[1].abs(), torch.linalg.qr, False),
    "svd": Row([SYMMETRIC], lambda f, x: f(x)[1], gradient=False),
}  # fmt: skip

# ---- networks -----------------------------------------------------------------------------------


def windows(*arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda method, *inputs: method(*inputs, *arguments, **options)


NETWORKS = {























    "dropout": Row(theirs=lambda x: F.dropout(x, training=False)),
    "sequential": Row(call=lambda f, x: f(x, [lambda t: t * 2, lambda t: t.exp()]),
                      theirs=lambda x, layers: torch.exp(x * 2)),
}  # fmt: skip

# ---- made, and converted ------------------------------------------------------------------------

CREATION = {
    "arange": Row([], lambda f: f(2, 9, 3), torch.arange, False),
    "linspace": Row([], lambda f: f(0, 1, 5), torch.linspace, False),
    "eye": Row([], lambda f: f(3, 4), torch.eye, False),
    "full": Row([], lambda f: f((2, 3), 4.0), torch.full, False),
    "ones": Row([], lambda f: f(2, 3), torch.ones, False),
    "zeros": Row([], lambda f: f(2, 3), torch.zeros, False),
    "full_like": Row(call=along(4.0), theirs=torch.full_like, gradient=False),
    "ones_like": Row(theirs=torch.ones_like, gradient=False),
    "zeros_like": Row(theirs=torch.zeros_like, gradient=False),
}  # fmt: skip

CASTING = {
    "float": Row(), "double": Row(), "half": Row(),
    "bfloat16": Row(call=lambda f, x: f(x).float()),
    "int": Row(gradient=False), "long": Row(gradient=False), "short": Row(gradient=False),
    "bool": Row(INTS[:1], gradient=False),
    "cast": Row(call=lambda f, x: f(x, "int8"), theirs=lambda x, _: x.char(), gradient=False),
    "bitcast": Row(call=lambda f, x: f(x, "int32"), theirs=lambda x, _: x.view(torch.int32),
                   gradient=False),
}  # fmt: skip

TABLES = [OTHER_ELEMENTWISE, REDUCE, MOVEMENT, ALGEBRA, NETWORKS, CREATION, CASTING]
ROWS = {name: row for table in TABLES for name, row in table.items()}

# What is compared in another file, and what PyTorch has no equal value for (random numbers, memory,
# graphs, switches), and who tests it.
ELSEWHERE = {
    "ops/test_random.py": (
        "manual_seed", "rand", "randint", "randperm", "uniform", "normal", "scaled_uniform",
        "glorot_uniform", "xavier_uniform", "kaiming_uniform",
        "kaiming_normal", "multinomial",
    ),
    "ops/test_creation.py": (
        "empty", "empty_like", "rand_like", "randn", "randn_like", "numpy", "tolist", "item",
        "data", "shape", "ndim", "dtype", "size", "numel", "nbytes", "element_size",
        "is_floating_point",
    ),
    "torch/test_other_libraries.py": ("from_dlpack",),
    "torch/test_neural_convolution.py": (
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    ),
    "torch/test_neural_pooling.py": (
        "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",

        "max_unpool2d", "interpolate",
    ),
    "torch/test_neural_layers.py": (
        "layernorm", "groupnorm", "rms_norm", "batchnorm", "scaled_dot_product_attention",
        "embedding", "linear",
    ),
    "torch/test_neural_losses.py": (
        "cross_entropy", "sparse_categorical_crossentropy", "nll_loss", "binary_crossentropy",
        "binary_crossentropy_logits",
    ),
    "torch/test_reduce.py": (
        "sum", "mean", "prod", "max", "min", "var", "std", "logsumexp", "softmax", "log_softmax",
        "softmin",
    ),
    "torch/test_handy_methods.py": (
        "index_add",
    ),
    "torch/test_wide_operations.py": (
        "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "sort", "topk",
        "norm", "normalize", "roll", "tril", "triu", "diag",
        "diagonal", "unbind", "meshgrid", "gather", "take", "index_select",
        "scatter_reduce", "masked_select", "einsum",
    ),
    "ops/test_gradient.py": (
        "backward", "grad", "gradient", "requires_grad", "requires_grad_", "is_param", "no_grad",
        "train", "contiguous_backward",
    ),
    "ops/test_laziness.py": (
        "realize", "schedule", "assign", "replace", "device", "to", "to_", "uop",
    ),
    "nn/test_from_tinygrad.py": ("is_param_",),
    "unit/test_schedule.py": ("kernelize",),
    "ops/test_linalg.py": ("newton_schulz",),
    "ops/test_symbolic_shapes.py": ("max_shape", "max_numel"),
}  # fmt: skip


@cache
def attributes(file: str) -> set[str]:
    """Every `name` of `something.name` in a test file."""
    tree = ast.parse((TESTS / file).read_text())
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_no_method_is_without_a_reference():
    methods = {method.name for method in public_methods()}
    elsewhere = {name for names in ELSEWHERE.values() for name in names}
    elsewhere |= (UNARY.keys() | BINARY.keys() | ALIASES.keys()) & methods
    assert not ROWS.keys() & elsewhere
    assert ROWS.keys() | elsewhere == methods
    for file, names in ELSEWHERE.items():
        assert set(names) <= attributes(file), file


@pytest.mark.parametrize("name", ROWS)
def test_method_agrees_with_pytorch(name):
    row = ROWS[name]
    theirs = row.theirs or getattr(torch.Tensor, name)
    inputs = [normal(number, *given) if isinstance(given, tuple) else given
              for number, given in enumerate(row.inputs)]  # fmt: skip
    assert_agree(
        lambda *xs: row.call(getattr(Tensor, name), *xs),
        lambda *xs: row.call(theirs, *xs),
        inputs, compiled=True, what=name, gradient=row.gradient,
    )  # fmt: skip
