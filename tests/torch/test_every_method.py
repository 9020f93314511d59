"""Every public method of Tensor, beside PyTorch: values, gradients, and what is a view.

A line below has a method's name and its calls, so that none can be forgotten:
`test_no_method_is_without_a_reference`. Behind a `/` is the same for PyTorch, where it is written
in another way. Functions of each element are in tests/elementwise.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.course.refresh import public_methods
from tests.elementwise import ALIASES, BINARY, UNARY
from tests.values import check_all
from tests.views import CALLS, NEITHER, listed
from tinyframe import Tensor, dtypes

TESTS = Path(__file__).resolve().parents[1]
METHODS = {method.name for method in public_methods()}
VIEWS, ITSELF = listed("views"), listed("itself")
ELEMENTWISE = (UNARY.keys() | BINARY.keys() | ALIASES.keys()) & METHODS

# Floats of these shapes, of which some are equal, 0, or large …
SHAPES = {
    "x": (3, 5), "y": (3, 5), "row": (1, 5), "column": (3, 1), "v": (5,), "w": (4,), "m": (2, 3, 4),
    "k": (5, 2), "sq": (3, 3), "q": (4, 5), "batch": (2, 3, 3), "even": (4, 6),
}  # fmt: skip
# … or not, where it is open how equal ones are told apart, and what a large one may lose
PLAIN = {"p": (3, 5), "image": (1, 2, 3, 4)}
OTHERS = {
    "n": np.array([[5, -3, 0], [7, 2, -1]], np.int32), "e": np.array([3, 1, 2], np.int32),
    "b": np.array([[True, False, True, True, False]]), "i": np.array([[0, 2, 1], [2, 0, 0]]),
    "j": np.array([[0, 4, 1, 1, 3], [3, 3, 0, 2, 2], [1, 0, 2, 0, 0]]), "c": np.array([2, 0, 1]),
    "top": np.array([[0, 2, 1, 1, 0], [2, 2, 0, 1, 0]]),
    "symmetric": np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32),
}  # fmt: skip
ROWS = r"""
lerp: x.lerp(row, 0.25)
clamp: x.clamp(min=-0.25) | x.clamp(-0.5, 1.5)
where: b.where(x, column) / torch.where(b, x, column)
masked_fill: x.masked_fill(b, 0.5)
allclose: x * (x.allclose(x) + 2 * x.allclose(y))
bitwise_not: n.bitwise_not()
lshift: n.lshift(e) / n << e
rshift: n.rshift(e) / n >> e
copy_: (x.detach() * 1).copy_(row.detach())
fill_: (x.detach() * 1).fill_(0.5)
zero_: (x.detach() * 1).zero_()
sum: x.sum(1) | m.sum((0, 2), True)
mean: x.mean(1) | x.mean()
prod: x.prod(1) | x.prod(0, True)
max: x.max(1) / x.amax(1)
min: x.min(0) / x.amin(0)
var: x.var(1) | x.var(0, keepdim=True)
std: p.std(1) | p.std(0)
std_mean: sum(p.std_mean(1)) / sum(torch.std_mean(p, 1))
logsumexp: x.logsumexp(1)
softmax: x.softmax(1) | x.softmax(0)
log_softmax: x.log_softmax(1)
softmin: x.softmin(1) / torch.nn.functional.softmin(x, 1)
amax: x.amax(1) | m.amax((0, 2), keepdim=True) | m.amax((0, 1, 2))
amin: x.amin(1) | m.amin((0, 2), keepdim=True) | m.amin((0, 1, 2))
any: b.any(1)
all: b.all(1)
argmax: p.argmax(1)
argmin: p.argmin(1)
argsort: p.argsort(1)
count_nonzero: n.count_nonzero(1)
norm: x.norm() | x.norm(1, 1) | x.norm(2, 1) | x.norm(3, 1) | p.norm(INF, 1) | p.norm(-INF, 1)
normalize: x.normalize() / F.normalize(x) | x.normalize(1, 0) / F.normalize(x, 1, 0)
normalize: p.normalize(3.0, -1) / F.normalize(p, 3.0, -1)
cumsum: x.cumsum(1) | x.cumsum(axis=0)
cumprod: x.cumprod(1)
cummax: x.cummax(1)
cummin: x.cummin(0)
logcumsumexp: x.logcumsumexp(1)
sort: x.sort(1) / x.sort(stable=True, dim=1)
sort: x.sort(0, descending=True) / x.sort(dim=0, descending=True, stable=True)
topk: p.topk(2)[0] | p.topk(2, dim=0, largest=False)[0]
roll: x.roll((1, -2), (0, 1)) | x.roll(4)
tril: m.tril(1)
triu: m.triu(-1)
diagonal: x.diagonal(1) | m.diagonal(-1, 2, 0)
diag: v.diag(-1) | x.diag()
unbind: x.unbind(1)
meshgrid: v.meshgrid(w) / torch.meshgrid(v, w, indexing="ij")
meshgrid: v.meshgrid(w, indexing="xy") / torch.meshgrid(v, w, indexing="xy")
flip: x.flip((0, 1))
repeat: x.repeat(2, 1, 3)
repeat_interleave: x.repeat_interleave(2, 1)
chunk: x.chunk(2, 1) | v.chunk(3) | v.chunk(4) | v.chunk(9)
split: x.split([1, 4], 1) | v.split(2) | v.split(7)
cat: Tensor.cat([x, row]) / torch.cat([x, row])
stack: Tensor.stack([x, y], dim=1) / torch.stack([x, y], dim=1)
pad: x.pad((1, 2), value=0.5) / F.pad(x, (1, 2), value=0.5)
pad: image.pad((2, 1, 1, -1), mode="reflect") / F.pad(image, (2, 1, 1, -1), mode="reflect")
pad: image.pad((2, 1, 1, -1), mode="replicate") / F.pad(image, (2, 1, 1, -1), mode="replicate")
pad: image.pad((2, 1, 1, -1), mode="circular") / F.pad(image, (2, 1, 1, -1), mode="circular")
pad_to: x.pad_to(4, 6) / F.pad(x, (0, 1, 0, 1))
rearrange: q.rearrange("(a b) c -> b (c a)", a=2) / q.view(2, 2, 5).permute(1, 2, 0).flatten(1)
contiguous: x.contiguous()
clone: x.clone()
fuse: (x - x.sum(1, True)).fuse() / x - x.sum(1, True)
gather: q.gather(1, i)
index_select: x.index_select(1, c)
take: x.take(i)
take_along_dim: x.take_along_dim(i[:, :1], 0)
index_add: q.index_add(0, c, x) | q.index_add(0, i[1], x, alpha=-0.5)
index_copy: q.index_copy(0, c, x)
index_fill: q.index_fill(0, c, 0.5)
scatter: q.scatter(0, top[:1], row)
scatter: q.scatter(1, j, x, reduce="add") / q.scatter_add(1, j, x)
scatter_add: q.scatter_add(1, j, x)
scatter_reduce: q.scatter_reduce(1, j, x, "sum")
scatter_reduce: q.scatter_reduce(1, j, x, "sum", include_self=False)
scatter_reduce: q.scatter_reduce(1, j, x, "prod")
scatter_reduce: q.scatter_reduce(1, j, x, "prod", include_self=False)
scatter_reduce: q.scatter_reduce(1, j, x, "mean")
scatter_reduce: q.scatter_reduce(1, j, x, "mean", include_self=False)
scatter_reduce: q.scatter_reduce(1, j, x, "amax")
scatter_reduce: q.scatter_reduce(1, j, p, "amax", include_self=False)
scatter_reduce: q.scatter_reduce(1, j, x, "amin")
scatter_reduce: q.scatter_reduce(1, j, p, "amin", include_self=False)
masked_select: x.masked_select(x > 0)
nonzero: n.nonzero()
one_hot: c.one_hot(4) / F.one_hot(c, 4)
isin: n.isin(e) / torch.isin(n, e)
bincount: c.bincount()
unique: n.unique(return_counts=True)
[]: x[[0, 2, 0]] | x[:, i] | batch[[0, 1], :, [2, -1]] | m[None, 1, [2, 0]]
[]: batch.permute(1, 2, 0)[symmetric > 0]
dot: v.dot(v)
matmul: x.matmul(k) | m.matmul(w) | batch.matmul(sq) | v.matmul(k) | batch[:, None].matmul(batch)
linear: m.linear(even) / m @ even
qr: symmetric.detach().qr()[1].abs() / torch.linalg.qr(symmetric.detach())[1].abs()
svd: symmetric.detach().svd()[1]
einsum: FORMULA("ij,jk->ik", x, k) | FORMULA("ij,jk", x, k) | FORMULA("ba", x)
einsum: FORMULA("ii->i", sq)
einsum: FORMULA("bij,bjk->bik", batch, m) | FORMULA("...ij,...jk->...ik", batch, sq)
einsum: FORMULA("ii", sq)
einsum: FORMULA("bii->b", batch) | FORMULA("ij->", x) | FORMULA("i,j,k->kij", v, w, v)
einsum: FORMULA("b...->...b", m) | FORMULA("a...,a...", x, y)
dropout: x.dropout() / x * 1
sequential: x.sequential([lambda t: t * 2, lambda t: t.square()]) / (x * 2).square()
arange: Tensor.arange(2, 9, 3) / torch.arange(2, 9, 3)
linspace: Tensor.linspace(0, 1, 5) / torch.linspace(0, 1, 5)
eye: Tensor.eye(3, 4) / torch.eye(3, 4)
full: Tensor.full((2, 3), 4.0) / torch.full((2, 3), 4.0)
ones: Tensor.ones(2, 3) / torch.ones(2, 3)
zeros: Tensor.zeros(2, 3) / torch.zeros(2, 3)
full_like: x.full_like(4.0) / torch.full_like(x, 4.0)
ones_like: x.ones_like() / torch.ones_like(x)
zeros_like: x.zeros_like() / torch.zeros_like(x)
float: x.half().float()
double: x.double()
half: x.half()
bfloat16: x.bfloat16().float()
int: x.int()
long: x.long()
short: x.short()
bool: n.bool()
cast: x.cast("int8") / x.char()
bitcast: x.detach().bitcast("int32") / x.detach().view(torch.int32)
"""
WORDS = re.compile(r"\w+")
TABLE: dict[str, list[tuple[str, ...]]] = {}
for line in ROWS.strip().splitlines():
    name, calls = line.split(": ", 1)
    TABLE.setdefault(name, []).extend(tuple(call.split(" / ", 1)) for call in calls.split(" | "))

# What is compared in another file, and what PyTorch has no equal value for (random numbers, memory,
# graphs, switches), and who tests it.
ELSEWHERE = {
    "ops/test_random.py": """
        manual_seed rand randint randperm uniform normal scaled_uniform glorot_uniform
        xavier_uniform kaiming_uniform kaiming_normal multinomial""",
    "ops/test_creation.py": """
        empty empty_like rand_like randn randn_like numpy tolist item data shape ndim dtype size
        numel nbytes element_size is_floating_point""",
    "torch/test_other_libraries.py": "from_dlpack",
    "torch/test_neural_windows.py": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d
        max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d max_unpool2d interpolate""",
    "torch/test_neural_layers.py": """
        layernorm groupnorm rms_norm batchnorm scaled_dot_product_attention embedding""",
    "torch/test_neural_losses.py": """
        cross_entropy sparse_categorical_crossentropy nll_loss binary_crossentropy
        binary_crossentropy_logits""",
    "ops/test_gradient.py": """
        backward grad gradient requires_grad requires_grad_ is_param no_grad train
        contiguous_backward""",
    "ops/test_laziness.py": "realize schedule assign replace device to to_ uop",
    "nn/test_from_tinygrad.py": "is_param_",
    "unit/test_schedule.py": "kernelize",
    "ops/test_linalg.py": "newton_schulz",
    "ops/test_symbolic_shapes.py": "max_shape max_numel",
}


def test_no_method_is_without_a_reference():
    elsewhere = {name for names in ELSEWHERE.values() for name in names.split()}
    methods = TABLE.keys() - {"[]"}
    assert not methods & (elsewhere | ELEMENTWISE)
    assert methods | elsewhere | ELEMENTWISE | VIEWS == METHODS
    assert all(f"{name}(" in call for name in methods - {"einsum"} for call, *_ in TABLE[name])
    for file, names in ELSEWHERE.items():
        text = (TESTS / file).read_text()
        assert all(name in text for name in names.split()), file


def arrays(seed: int) -> dict[str, np.ndarray]:
    random, made = np.random.default_rng(seed), dict(OTHERS)
    for name, shape in (SHAPES | PLAIN).items():
        x = random.normal(size=shape)
        if seed and name in SHAPES:
            x = np.where(random.random(shape) < 0.3, x.round() + 0.0, x)
            x = np.where(random.random(shape) < 0.1, x * 20, x)
        made[name] = x.astype(np.float32)
    return made


def results(given: Any, kind: type) -> Iterator[Any]:
    if isinstance(given, kind):
        yield given
    elif isinstance(given, (tuple, list)):
        for part in given:
            yield from results(part, kind)


def values_and_gradients(call: str, library: Any, seed: int) -> tuple[list[Any], dict[str, Any]]:
    """What a call gives, and the gradients of a weighted sum of it by all floats that it is of."""
    make, kind = (Tensor, Tensor) if library is Tensor else (torch.tensor, torch.Tensor)
    inputs = {
        name: make(array, **{"requires_grad": True} if array.dtype.kind == "f" else {})
        for name, array in arrays(seed).items()
    }
    names = {"Tensor": Tensor, "torch": torch, "F": torch.nn.functional, "INF": float("inf"),
             "FORMULA": library.einsum, **inputs}  # fmt: skip
    found, loss = list(results(eval(call, names), kind)), 0
    weights = np.random.default_rng(seed)
    for result in found:
        if result.requires_grad:
            weight = weights.normal(size=tuple(result.shape)).astype(np.float32)
            loss = loss + (result.float() * make(weight)).sum()
    if isinstance(loss, int):
        return found, {}
    wanted = [name for name in WORDS.findall(call) if name in inputs and inputs[name].requires_grad]
    if library is Tensor:
        grads = loss.gradient(*[inputs[name] for name in wanted])
        return found, dict(zip(wanted, grads, strict=True))
    loss.backward()
    return found, {name: t.grad for name, t in inputs.items()}


CASES = [(name, case) for name, cases in TABLE.items() for case in cases]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[case[0] for _, case in CASES])
def test_values_and_gradients_are_pytorchs(name, case):
    for seed in (0, 3):
        found, grads = values_and_gradients(case[0], Tensor, seed)
        expected, slopes = values_and_gradients(case[-1], torch, seed)
        rows = []
        for out, reference in zip(found, expected, strict=True):
            assert out.dtype is not dtypes.int64 or "long" in case[0]
            rows.append((out, reference.detach().numpy(), 20, f"value of {case[0]}"))
        assert bool(grads) is any(t.requires_grad for t in expected)
        for of, grad in grads.items():
            slope = np.zeros(grad.shape) if slopes[of] is None else slopes[of].numpy()
            rows.append((grad, slope, 40, f"gradient by {of} of {case[0]}"))
        # kernels of movement alone: tests/fuzz/programs.py
        check_all(rows, compiled=seed == 3 and name not in VIEWS)


# ---- indices -------------------------------------------------------------------------------------

# An int apart from a Tensor is taken first, as in PyTorch.
INDICES = """1, :, i | :, i, :, 1 | :, 1, :, i | :, 1, ..., i | :, 1, None, i | :, 1, :, [0, 2, 1]
:, 1, i | :, i, 1, i | :, i, :, i"""


@pytest.mark.parametrize("index", [i for line in INDICES.splitlines() for i in line.split(" | ")])
def test_parts_are_read_and_written_as_in_pytorch(index):
    x = np.arange(4 * 5 * 6 * 7, dtype=np.float32).reshape(4, 5, 6, 7)
    found = []
    for make in (Tensor, torch.tensor):
        names = {"x": make(x), "i": make(np.array([0, 2, 1])), "one": make(1)}
        part = eval(f"x[{index}]", names)
        names["new"] = make(-np.arange(part.numel(), dtype=np.float32)).reshape(part.shape)
        if make is Tensor:
            names["x"].contiguous().realize()
        exec(f"x[{index}] = new", names)
        found.append((part, names["x"]))
    check_all([(ours, theirs.numpy(), 1, index) for ours, theirs in zip(*found, strict=True)])


# ---- dtypes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float16", "float64"])
def test_dtypes_stay(dtype):
    calls = """t.sort()[0] | t.roll(1) | t.cummax(1)[0] | t.tril() | t.gather(0, i) | t.amax(0)
    t.t() | t.index_add(0, c, t) | t.ravel() | t.unique() | t.index_copy(0, c, t) | t.diagonal()
    t.index_fill(0, c, 1) | t.take_along_dim(i[:, :1], 0) | t.flip(0) | t.repeat(2, 1)"""
    x = np.random.default_rng(0).integers(0, 9, (3, 6)).astype(dtype)
    kinds = []
    for make in (Tensor, torch.tensor):
        kinds.append({"t": make(x), "i": make(OTHERS["i"]), "c": make(OTHERS["c"])})
    rows = []
    for call in calls.replace("\n", "|").split("|"):
        found, expected = (eval(call.strip(), names) for names in kinds)
        assert found.dtype is Tensor(x).dtype, call
        rows.append((found, expected.numpy(), 1, call))
    check_all(rows, compiled=dtype in ("int8", "float16"))


# ---- what is a view ------------------------------------------------------------------------------

# Where PyTorch's result may be the same memory, and a Tensor's is not: the README says so.
OWN_MEMORY = {"contiguous", "dropout", "bitcast"}


def calls_of(name: str) -> list[tuple[str, ...]]:
    if name in CALLS:
        return CALLS[name]
    of = "n" if name.startswith("bitwise") else "x"
    rest = f"({of})" if name in BINARY or ALIASES.get(name) in BINARY else "()"
    if hasattr(torch.Tensor, name):
        return [(f"{of}.{name}{rest}",)]
    is_function = hasattr(torch.nn.functional, name)
    return [(f"{of}.{name}{rest}", f"F.{name}({of})" if is_function else "-")]


def inputs_of_views(make: Any) -> dict[str, Any]:
    random = np.random.default_rng(0)
    shapes = {"x": (3, 4), "x3": (2, 3, 4), "v": (4,), "one": (1, 1), "c": (2, 4, 6, 4),
              "sq": (3, 3), "none": (0, 4)}  # fmt: skip
    made = {name: random.uniform(0.1, 0.9, shape) for name, shape in shapes.items()}
    named = {name: array.astype(np.float32) for name, array in made.items()}
    named["n"], named["b"] = np.arange(1, 13, dtype=np.int32).reshape(3, 4), made["x"] > 0.5
    named |= {"rows": np.arange(3), "i": np.array([[0, 1, 2, 0]] * 3), "s": named["v"][0]}
    found = {name: make(array) for name, array in named.items()}
    x, n = found["x"], found["n"]
    found |= {"x64": x.double(), "x16": x.half(), "xb": x.bfloat16()}
    return found | {"n64": n.long(), "n16": n.short()}


def address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def answer(call: str, names: dict[str, Any]) -> tuple[bool, bool, list[np.ndarray]]:
    """Whether each result shares an input's memory, whether it is that input, and the values of
    views: of others, the table above says what they are."""
    kind = torch.Tensor if isinstance(names["x"], torch.Tensor) else Tensor
    before = list(names.values())
    more = {"Tensor": Tensor, "torch": torch, "F": torch.nn.functional, "L": torch.linalg, "np": np}
    found = list(results(eval(call, {**names, **more}), kind))
    assert found
    if kind is Tensor:
        shared = [any(r._storage is t._storage for t in before) for r in found]
    else:
        shared = [r.numel() > 0 and any(address(r) == address(t) for t in before) for r in found]
    assert len(set(shared)) == 1, "some of its results, and not all"
    values = [np.array(r.tolist()) for r in found] if shared[0] else []
    return shared[0], any(r is t for r in found for t in before), values


def test_every_method_is_called_to_see_whether_it_gives_a_view():
    assert METHODS == NEITHER | CALLS.keys() | ELEMENTWISE
    assert not NEITHER & (CALLS.keys() | VIEWS | ITSELF)
    assert METHODS >= VIEWS | ITSELF and not VIEWS & ITSELF


@pytest.mark.parametrize("name", sorted(METHODS - NEITHER))
def test_what_is_a_view_is_listed_and_is_one_in_pytorch(name):
    for call, *by_torch in calls_of(name):
        shares, is_itself, values = answer(call, inputs_of_views(Tensor))
        if name in ITSELF:
            assert is_itself, call
        else:
            assert shares == (name in VIEWS), call
        (theirs,) = by_torch or (call,)
        if theirs != "-" and name not in OWN_MEMORY:
            is_view, _, expected = answer(theirs, inputs_of_views(torch.tensor))
            assert is_view == shares, call
            for ours, reference in zip(values, expected, strict=True):
                np.testing.assert_array_equal(ours, reference, err_msg=call)
