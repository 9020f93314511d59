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
IMAGE = (2, 4, 6, 5)
VOLUME = (1, 2, 4, 5, 4)
GRID = np.random.default_rng(0).uniform(-1.3, 1.3, (2, 3, 2, 2)).astype(np.float32)
SYMMETRIC = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)


# ---- one result for each element, beside those in tests/elementwise.py ---------------------------

OTHER_ELEMENTWISE = {
    "lerp": Row([(3, 4), (1, 4)], lambda f, x, y: f(x, y, 0.25)),
    "float_power": Row([spread(0.2, 4)], lambda f, x: f(x, 1.5)),
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
    "sum": Row(call=along(1)), "mean": Row(call=along(1)), "prod": Row(call=along(1)),
    "max": Row(call=along(1), theirs=torch.amax), "min": Row(call=along(1), theirs=torch.amin),
    "amax": Row(call=along(1)), "amin": Row(call=along(1)),
    "aminmax": Row(call=lambda f, x: f(x, dim=1)[1] - f(x, dim=1)[0]),
    "any": Row([MASK], along(1), gradient=False), "all": Row([MASK], along(1), gradient=False),
    "var": Row(call=along(1)), "std": Row(call=along(1)),
    "var_mean": Row(call=lambda f, x: sum(f(x, 1)), theirs=torch.var_mean),
    "std_mean": Row(call=lambda f, x: sum(f(x, 1)), theirs=torch.std_mean),
    "argmax": Row(call=along(1), gradient=False), "argmin": Row(call=along(1), gradient=False),
    "argsort": Row(call=along(1), gradient=False),
    "count_nonzero": Row(INTS[:1], along(1), gradient=False),
    "logsumexp": Row(call=along(1)), "softmax": Row(call=along(1)),
    "log_softmax": Row(call=along(1)), "softmin": Row(call=along(1), theirs=F.softmin),
    "median": Row(call=along(1)), "quantile": Row(call=along(0.3, 1)),
    "searchsorted": Row([np.array([0.5, 1, 1, 2], np.float32), spread(0.2, 4)],
                        theirs=torch.searchsorted, gradient=False),
    "trace": Row(),
}  # fmt: skip

# ---- moved --------------------------------------------------------------------------------------

MOVEMENT = {
    "reshape": Row(call=along(2, -1)), "view": Row(call=along(2, -1)),
    "permute": Row([(2, 3, 4)], along(2, 0, 1)), "transpose": Row(call=along(0, 1)),
    "swapaxes": Row(call=along(0, 1)), "moveaxis": Row([(2, 3, 4)], along(0, 2)),
    "flip": Row(call=along((0, 1))),
    "expand": Row([(3, 1)], along(-1, 4)), "squeeze": Row([(3, 1)], along(1)),
    "unsqueeze": Row(call=along(1)), "flatten": Row([(2, 3, 4)], along(1)),
    "unflatten": Row(call=along(1, (2, -1))), "repeat": Row(call=along(2, 1, 3)),
    "repeat_interleave": Row(call=along(2, 1)), "unfold": Row(call=along(1, 3, 1)),
    "window": Row([(3, 7)], along(1, 3, 2), lambda x, *a: x.unfold(*a)),
    "diag_embed": Row(),
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
    "T": Row(call=lambda f, x: x.T), "t": Row(), "mT": Row([(2, 3, 4)], lambda f, x: x.mT),
    "ravel": Row(), "expand_as": Row([(3, 1), (2, 3, 4)], lambda f, x, y: f(x, y) * y),
    "view_as": Row([(3, 4), (2, 6)], lambda f, x, y: f(x, y) * y),
    "reshape_as": Row([(3, 4), (2, 6)], lambda f, x, y: f(x, y) * y),
    "select": Row(call=along(1, -2)),
    "pixel_shuffle": Row([(2, 8, 3, 2)], along(2), F.pixel_shuffle),
    "pixel_unshuffle": Row([(2, 3, 4, 6)], along(2), F.pixel_unshuffle),
    "take_along_dim": Row([(3, 4), PLACES[:, :1]], lambda f, x, i: f(x, i, 0)),
    "index_add": Row([(3, 4), CLASSES, (3, 3)], lambda f, x, i, y: f(x, 1, i, y, alpha=2)),
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
    "embedding": Row([PLACES, (3, 4)], theirs=F.embedding),
}  # fmt: skip

# ---- products and factorizations ----------------------------------------------------------------

ALGEBRA = {
    "dot": Row([(4,), (4,)]), "matmul": Row([(2, 3, 4), (4, 2)]),
    "mm": Row([(3, 4), (4, 2)]), "mv": Row([(3, 4), (4,)]), "bmm": Row([(2, 3, 4), (2, 4, 2)]),
    "addmm": Row([(2,), (3, 4), (4, 2)], lambda f, *xs: f(*xs, beta=0.5, alpha=2)),
    "baddbmm": Row([(2, 1, 2), (2, 3, 4), (2, 4, 2)], lambda f, *xs: f(*xs, beta=0.5, alpha=2)),
    "cdist": Row([(2, 3, 4), (2, 5, 4)], theirs=torch.cdist),
    "cosine_similarity": Row([(3, 4), (1, 4)], theirs=F.cosine_similarity),
    "inverse": Row([SYMMETRIC], theirs=torch.linalg.inv),
    "solve": Row([SYMMETRIC, (3, 2)], theirs=torch.linalg.solve),
    "solve_triangular": Row([SYMMETRIC, (3, 2)], lambda f, a, b: f(a, b, upper=True),
                            torch.linalg.solve_triangular),
    "det": Row([SYMMETRIC]), "logdet": Row([SYMMETRIC]),
    "slogdet": Row([SYMMETRIC], lambda f, a: f(a)[1] * f(a)[0]),
    "cholesky": Row([SYMMETRIC], theirs=torch.linalg.cholesky),
    "linear": Row([(3, 4), (4, 2), (2,)], theirs=lambda x, w, b: F.linear(x, w.T, b)),
    "qr": Row([SYMMETRIC], lambda f, x: f(x)[1].abs(), torch.linalg.qr, False),
    "svd": Row([SYMMETRIC], lambda f, x: f(x)[1], gradient=False),
}  # fmt: skip

# ---- networks -----------------------------------------------------------------------------------


def windows(*arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda method, *inputs: method(*inputs, *arguments, **options)


NETWORKS = {
    "conv1d": Row([(2, 4, 7), (6, 2, 3), (6,)], windows(stride=2, padding=1, groups=2), F.conv1d),
    "conv2d": Row([IMAGE, (4, 2, 3, 3), (4,)], windows(stride=2, padding=1, groups=2), F.conv2d),
    "conv3d": Row([VOLUME, (2, 2, 2, 3, 2)], windows(padding=1), F.conv3d),
    "conv_transpose1d": Row([(2, 4, 5), (4, 3, 3)], windows(stride=2), F.conv_transpose1d),
    "conv_transpose2d": Row([(2, 4, 3, 3), (4, 3, 3, 2)], windows(stride=2, padding=1),
                            F.conv_transpose2d),
    "conv_transpose3d": Row([(1, 2, 2, 3, 2), (2, 2, 2, 2, 2)], windows(stride=2),
                            F.conv_transpose3d),
    "max_pool1d": Row([(2, 3, 7)], windows(3, 2, padding=1), F.max_pool1d),
    "max_pool2d": Row([IMAGE], windows(2), F.max_pool2d),
    "max_pool3d": Row([VOLUME], windows(2), F.max_pool3d),
    "avg_pool1d": Row([(2, 3, 7)], windows(3), F.avg_pool1d),
    "avg_pool2d": Row([IMAGE], windows(2), F.avg_pool2d),
    "avg_pool3d": Row([VOLUME], windows(2), F.avg_pool3d),
    "lp_pool2d": Row([spread(0.2, 4)[None, None]], lambda f, x: f(x, 3, 2), F.lp_pool2d),
    "adaptive_avg_pool1d": Row([(2, 3, 7)], windows(3), F.adaptive_avg_pool1d),
    "adaptive_avg_pool2d": Row([IMAGE], windows((4, 3)), F.adaptive_avg_pool2d),
    "adaptive_max_pool1d": Row([(2, 3, 7)], windows(3), F.adaptive_max_pool1d),
    "adaptive_max_pool2d": Row([IMAGE], windows((4, 3)), F.adaptive_max_pool2d),
    "max_unpool2d": Row([(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]])], windows(2),
                        F.max_unpool2d),
    "interpolate": Row([(2, 3, 5)], lambda f, x: f(x, (7,), mode="linear"), F.interpolate),
    "grid_sample": Row([IMAGE, GRID],
                       windows(align_corners=False), F.grid_sample),
    "layernorm": Row(theirs=lambda x: F.layer_norm(x, (4,))),
    "rms_norm": Row(call=lambda f, x: f(x, eps=1e-6),
                    theirs=lambda x, eps: F.rms_norm(x, (4,), None, eps)),
    "groupnorm": Row([IMAGE], windows(2), F.group_norm),
    "batchnorm": Row([(5, 3), (3,), (3,), (3,), spread(0.2, 4)[0, :3]],
                     lambda f, *xs: f(*xs),
                     lambda x, w, b, mean, invstd: (x - mean) * invstd * w + b),
    "scaled_dot_product_attention": Row([(2, 3, 4), (2, 5, 4), (2, 5, 4)],
                                        theirs=F.scaled_dot_product_attention),
    "dropout": Row(theirs=lambda x: F.dropout(x, training=False)),
    "sequential": Row(call=lambda f, x: f(x, [lambda t: t * 2, lambda t: t.exp()]),
                      theirs=lambda x, layers: torch.exp(x * 2)),
    "cross_entropy": Row([(3, 4), CLASSES], windows(label_smoothing=0.1), F.cross_entropy),
    "sparse_categorical_crossentropy": Row([(3, 4), CLASSES], theirs=F.cross_entropy),
    "nll_loss": Row([(3, 4), CLASSES], theirs=F.nll_loss),
    "binary_crossentropy": Row(PROBABILITIES, theirs=F.binary_cross_entropy),
    "binary_crossentropy_logits": Row([(3, 4), PROBABILITIES[1]],
                                      theirs=F.binary_cross_entropy_with_logits),
    "mse_loss": Row([(3, 4), (3, 4)], theirs=F.mse_loss),
    "l1_loss": Row([(3, 4), (3, 4)], theirs=F.l1_loss),
    "smooth_l1_loss": Row([(3, 4), (3, 4)], windows(beta=0.3), F.smooth_l1_loss),
    "kl_div": Row([(3, 4), PROBABILITIES[0]], windows(reduction="batchmean"), F.kl_div),
    "huber_loss": Row([(3, 4), (3, 4)], windows(delta=0.3), F.huber_loss),
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
        "glorot_uniform", "xavier_uniform", "glorot_normal", "xavier_normal", "kaiming_uniform",
        "kaiming_normal", "bernoulli", "multinomial",
    ),
    "ops/test_creation.py": (
        "empty", "empty_like", "rand_like", "randn", "randn_like", "numpy", "tolist", "item",
        "data", "shape", "ndim", "dtype", "size", "numel", "nbytes", "element_size",
        "is_floating_point",
    ),
    "torch/test_other_libraries.py": ("from_dlpack",),
    "torch/test_wide_operations.py": (
        "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "diff", "sort", "msort", "topk",
        "norm", "normalize", "movedim", "tile", "roll", "narrow", "tril", "triu", "diag",
        "diagonal", "unbind", "hstack", "vstack", "meshgrid", "gather", "take", "index_select",
        "scatter_reduce", "masked_select", "outer", "tensordot", "einsum",
    ),
    "ops/test_gradient.py": (
        "backward", "grad", "gradient", "requires_grad", "requires_grad_", "is_param", "no_grad",
        "train", "training",
    ),
    "ops/test_laziness.py": (
        "realize", "schedule", "kernelize", "assign", "replace", "device", "to", "to_", "uop",
    ),
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
