"""Random indices and labels, some of them out of bounds, beside PyTorch.

A Case is an op, its inputs, and a way to have the indices: a list, an array, a Tensor of either,
realized or a view of that, lazy, or the argument of a captured function. Where the indices are
known, what PyTorch refuses has to be refused, and the first wrong one named. Elsewhere the result
is that of PyTorch with one place more on axis 0, which all wrong indices stand for: NaN to be read
(0 for ints), and cut off after it was written to. A label's loss is NaN.

By hand, for as long as you like:

    python -m tests.fuzz.labels --minutes 60 --seed 1
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch

from tests.fuzz.memory import hunt
from tinyframe import Context, Tensor, TinyJit
from tinyframe.errors import TensorIndexError

F = torch.nn.functional

# ---- ops -----------------------------------------------------------------------------------------


class Op(NamedTuple):
    """ours(x, i, v) and theirs, the same in PyTorch. x has `axes` axes, the first of which is
    indexed; v is what is written.

    shape: that of the indices is "any", "vector" or "like x". writes: whether the result is a
    changed copy of x; then no two indices are equal. from_end: whether -1 is the last.
    of_tensors: whether only Tensors are taken as indices.
    """

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    axes: int = 2
    shape: str = "vector"
    writes: bool = False
    from_end: bool = False
    of_tensors: bool = False


def on_a_copy(x: Any, index: Any, v: Any) -> Any:
    x = x.clone()
    x[index] = v
    return x


def along(a: Any, i: Any) -> Any:
    """take_along_dim counts from the end as NumPy's does; PyTorch's doesn't."""
    np.take_along_axis(a.detach().numpy(), i.numpy(), 0)
    return torch.take_along_dim(a, torch.where(i < 0, i + len(a), i), 0)


def same(method: str, *around: Any, **options: Any) -> tuple[Any, Any]:
    """A method of both with the arguments (0, i, v); `around` instead, where it is given."""

    def call(x: Any, i: Any, v: Any) -> Any:
        arguments = [{"i": i, "v": v}.get(a, a) for a in around or (0, "i", "v")]
        return getattr(x, method)(*arguments, **options)

    return call, call


def both(function: Callable[..., Any]) -> tuple[Any, Any]:
    return function, function


OPS: dict[str, Op] = {
    "x[i]": Op(*both(lambda x, i, v: x[i]), shape="any", from_end=True),
    "x.T[:, i]": Op(*both(lambda x, i, v: x.T[:, i]), shape="any", from_end=True),
    "x[i, [0]]": Op(*both(lambda x, i, v: x[i, [0]]), from_end=True),
    "x[..., i]": Op(*both(lambda x, i, v: x[..., i]), axes=1, shape="any", from_end=True),
    "gather": Op(*same("gather", 0, "i"), shape="like x"),
    "index_select": Op(*same("index_select", 0, "i")),
    "take": Op(*same("take", "i"), axes=1, shape="any", from_end=True),
    "take_along_dim": Op(lambda x, i, v: x.take_along_dim(i, 0), lambda x, i, v: along(x, i),
                         shape="like x", from_end=True),
    "embedding": Op(lambda x, i, v: i.embedding(x), lambda x, i, v: F.embedding(i, x),
                    shape="any", of_tensors=True),
    "one_hot": Op(lambda x, i, v: i.one_hot(len(x)),
                  lambda x, i, v: F.one_hot(i, len(x)), shape="any", of_tensors=True),
    "x[i] = v": Op(*both(on_a_copy), writes=True, from_end=True),
    "x.T[:, i] = v": Op(*both(lambda x, i, v: on_a_copy(x.T, (slice(None), i), v.T).T),
                        writes=True, from_end=True),
    "scatter": Op(*same("scatter"), shape="like x", writes=True),
    "scatter_add": Op(*same("scatter_add"), shape="like x", writes=True),
    "scatter_reduce": Op(*same("scatter_reduce", 0, "i", "v", "amax"), shape="like x", writes=True),
    "index_add": Op(*same("index_add"), writes=True),
    "index_copy": Op(*same("index_copy"), writes=True),
    "index_fill": Op(*same("index_fill", 0, "i", 7), writes=True, from_end=True),
}  # fmt: skip
LOSSES = ("cross_entropy", "nll_loss", "sparse_categorical_crossentropy")

# ---- ways to have indices ------------------------------------------------------------------------


def a_part(a: np.ndarray) -> Tensor:
    return Tensor(np.concatenate([a, a, a])).realize()[len(a) : 2 * len(a)]


# name -> (what is passed, whether the indices are known); None is as the argument of a TinyJit
WAYS: dict[str, tuple[Callable[[np.ndarray], Any] | None, bool]] = {
    "list": (lambda a: a.tolist(), True),
    "array": (lambda a: a, True),
    "Tensor of a list": (lambda a: Tensor(a.tolist()), True),
    "Tensor of an array": (Tensor, True),
    "realized": (lambda a: Tensor(a).realize(), True),
    "part": (a_part, True),
    "expanded": (lambda a: Tensor(a).realize().unsqueeze(-1).expand(*a.shape, 3)[..., 1], True),
    "turned": (lambda a: Tensor(a.T.copy()).realize().permute(*range(a.ndim)[::-1]), True),
    "cast": (lambda a: Tensor(a).realize().cast("int64"), True),
    "lazy": (lambda a: Tensor(a) + 0, False),
    "lazy part": (lambda a: (Tensor(np.concatenate([a, a])) * 1)[len(a) :], False),
    "captured": (None, False),
    "captured at once": (None, False),
}
INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")

# ---- a case --------------------------------------------------------------------------------------


class Case(NamedTuple):
    name: str
    way: str
    options: dict[str, Any]
    x: np.ndarray
    index: np.ndarray
    v: np.ndarray
    wrong: np.ndarray

    def __str__(self) -> str:
        return (f"{self.name} {self.options} of {self.x.dtype} {self.x.shape}, {self.way}: "
                f"{self.index.dtype} {self.index.tolist()}")  # fmt: skip

    def theirs(self, x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if self.name in OPS:
            return OPS[self.name].theirs(x, i, v)
        options = {"ignore_index": -12345, **self.options}
        if "weight" in options:
            options["weight"] = torch.tensor(options["weight"]).to(x.dtype)
        function = F.nll_loss if self.name == "nll_loss" else F.cross_entropy
        return function(x, i, **options)

    def ours(self, x: Tensor, i: Any, v: Tensor) -> Tensor:
        if self.name in OPS:
            return OPS[self.name].ours(x, i, v)
        options = {"ignore_index": None, **self.options}
        if "weight" in options:
            options["weight"] = Tensor(options["weight"])
        if self.name == LOSSES[2] and x.ndim > 2:
            x = x.permute(0, *range(2, x.ndim), 1)
        return getattr(x, self.name)(i, **options)


def random_case(seed: int) -> Case:
    rng = Random(f"labels {seed}")
    name = rng.choice([*OPS, *LOSSES, *LOSSES])
    op = OPS.get(name, Op(*both(None), shape="labels", of_tensors=True))
    size, more = rng.choice([1, 2, 3, 10, 40, 200]), rng.randint(1, 3)
    shape = (size,) if op.axes == 1 else (size, more)
    if op.shape == "labels":
        pixels = rng.choice([(), (), (2,), (2, 2)])
        shape = (rng.randint(1, 4), size, *pixels) if rng.random() < 0.9 else (size,)
    count = rng.randint(0, min(size, 4)) if op.writes else rng.randint(0, 5)
    shapes = {
        "vector": (count,),
        "any": rng.choice([(), (count,), (2, count)]),
        "like x": (count, more),
        "labels": shape[:1] + shape[2:] if len(shape) > 1 else (),
    }
    generator = np.random.default_rng(seed)
    if op.writes:  # no two of them may be equal
        columns = [generator.permutation(size)[:count] for _ in range(more)]
        index = np.stack(columns, 1) if op.shape == "like x" else columns[0]
    else:
        index = np.asarray(generator.integers(0, size, shapes[op.shape]))
    if op.from_end:
        index = np.where(generator.random(index.shape) < 0.3, index - size, index)
    options = random_options(rng, name, size)
    way = rng.choice([w for w in WAYS if not op.of_tensors or w not in ("list", "array")])
    if index.ndim == 0 and way not in ("array", "Tensor of an array", "realized", "cast"):
        way = "lazy"
    if index.size == 0 and way.endswith("list"):  # an empty list has one axis, of floats
        way = "realized"
    for place in np.ndindex(index.shape):
        if rng.random() < rng.choice([0, 0.3]):
            index[place] = rng.choice([size, size, size + 1, -1, -size - 1, -100, 127, 2**31 - 1,
                                       size + 256, -(2**31), 2**40])  # fmt: skip
    fitting = [d for d in INTS if (np.asarray(index, d) == index).all()]
    if way.endswith("list"):
        fitting = [d for d in fitting if (np.asarray(index, "int32") == index).all()] or ["int32"]
    index = index.astype(rng.choice(fitting))
    number = index.astype(np.int64)
    wrong = (number >= size) | (number < (-size if op.from_end else 0))
    if options.get("ignore_index") is not None:
        wrong &= number != options["ignore_index"]
    dtype = rng.choice(["float32", "float32", "float16", "int32"]) if name in OPS else "float32"
    x = generator.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = x / 8 if name in LOSSES else x
    v_shape = index.shape if op.shape == "like x" else (*index.shape, *shape[1:])
    v = generator.integers(-9, 9, v_shape).astype(dtype)
    return Case(name, way, options, x.astype(dtype), index, v, wrong)


def random_options(rng: Random, name: str, size: int) -> dict[str, Any]:
    if name not in LOSSES:
        return {}
    options: dict[str, Any] = {"reduction": rng.choice(["mean", "sum", "none"])}
    if rng.random() < 0.6:
        options["ignore_index"] = rng.choice([-100, -1, 0, size, 127])
    if name != "nll_loss" and rng.random() < 0.3:
        options["label_smoothing"] = 0.25
    if name != LOSSES[2] and rng.random() < 0.3:
        options["weight"] = [0.5 + n % 3 for n in range(size)]
    return options


# ---- what it has to give -------------------------------------------------------------------------


def expected(case: Case) -> tuple[np.ndarray, np.ndarray | None]:
    """The result, and for a float the gradient of the sum of its elements that are not NaN."""
    x = torch.tensor(case.x, requires_grad=case.x.dtype.kind == "f")
    i, v = torch.tensor(case.index.astype(np.int64)), torch.tensor(case.v)
    wrong, size = torch.tensor(case.wrong), case.x.shape[0]
    if case.name in LOSSES:
        out = loss_with_nan(case, x, i, wrong)
    else:
        op, nothing = OPS[case.name], float("nan") if x.is_floating_point() else 0
        longer = torch.cat([x, torch.full_like(x[:1], nothing)])
        i = torch.where(wrong, size, torch.where(i < 0, i + size, i))
        out = op.theirs(longer, i, v)
        if op.writes:
            out = out[:size]
        if case.name == "one_hot":
            out = out[..., :size]
    slope = None
    if out.is_floating_point() and out.requires_grad:
        out.nansum().backward() if case.name in OPS else out.sum().backward()
        slope = x.grad.numpy()
    return out.detach().numpy(), slope


def loss_with_nan(case: Case, x: Any, i: Any, wrong: Any) -> torch.Tensor:
    reduction = case.options["reduction"]
    if not case.wrong.any():
        return case.theirs(x, i, None)
    rows = case._replace(options={**case.options, "reduction": "none"})
    right = torch.where(wrong, 0, i)
    if case.options.get("ignore_index") == 0:  # a class that is not ignored
        right = torch.where(wrong, min(1, case.x.shape[min(1, x.ndim - 1)] - 1), i)
    losses = torch.where(wrong, torch.nan, rows.theirs(x, right, None))
    if reduction != "mean":
        return losses.sum() if reduction == "sum" else losses
    if "weight" in case.options:
        return losses.sum() / torch.nan
    return losses.sum() / (i != case.options.get("ignore_index", -12345)).sum()


def refuses(case: Case) -> bool:
    """Whether PyTorch does."""
    x, v = torch.tensor(case.x), torch.tensor(case.v)
    try:
        case.theirs(x, torch.tensor(case.index.astype(np.int64)), v)
    except (IndexError, RuntimeError):
        return True
    return False


def check(case: Case) -> str:
    """AssertionError if it is not as it has to be; whether it was refused, NaN or right."""
    assert refuses(case) == case.wrong.any(), f"PyTorch takes something else for wrong: {case}"
    make, is_known = WAYS[case.way]
    asks = case.x.dtype.kind == "f" or None
    x, v = Tensor(case.x, requires_grad=asks), Tensor(case.v)
    if make is None:
        return check_captured(case, x.detach().realize(), v.realize())
    if is_known and case.wrong.any():
        try:
            case.ours(x, make(case.index), v)
        except TensorIndexError as error:
            place = tuple(np.argwhere(case.wrong)[0].tolist())
            at = f" at position {place[0] if len(place) == 1 else place}" if place else ""
            named = rf"^(index|label) {case.index[place]}{re.escape(at)} is out of bounds for "
            assert re.match(named, str(error)), f"{error}: {case}"
            return "refused"
        raise AssertionError(f"not refused: {case}")
    out = case.ours(x, make(case.index), v)
    value, slope = expected(case)
    compare(out, value, f"{case}")
    if slope is not None and out._requires_grad is not False:
        total = out.isnan().where(0.0, out).sum() if case.name in OPS else out.sum()
        (grad,) = total.gradient(x)
        got = grad.numpy()
        if "label_smoothing" in case.options:  # of a wrong label, what is spread still has one
            lost = np.expand_dims(case.wrong, min(1, x.ndim - 1)) & np.ones_like(got, bool)
            got, slope = np.where(lost, 0, got), np.where(lost, 0, slope)
        compare(got, slope, f"gradient of {case}")
    return "NaN or 0" if case.wrong.any() else "right"


def check_captured(case: Case, x: Tensor, v: Tensor) -> str:
    f = TinyJit(lambda x, i, v: (case.ours(x, i, v) + 0).realize())
    right = np.where(case.wrong, 0, case.index).astype(case.index.dtype)
    calls = [right, case.index] if case.way == "captured at once" else [right, right, case.index]
    for index in calls:
        out = f(x, Tensor(index).realize(), v)
    compare(out, expected(case)[0], f"{case}")
    return "NaN or 0, captured" if case.wrong.any() else "right, captured"


def compare(got: Any, value: np.ndarray, what: str) -> None:
    got = got.numpy() if isinstance(got, Tensor) else got
    tolerance = 4e-3 if value.dtype == np.float16 else 3e-5
    np.testing.assert_allclose(got, value, tolerance, tolerance, equal_nan=True, err_msg=what)


def main() -> None:
    found: Counter[str] = Counter()

    def attempt(seed: int) -> None:
        case = random_case(seed)
        # the interpreter says where a kernel touches what is not its own
        with Context(**({"NOOPT": seed % 2} if seed % 5 == 0 else {"DEVICE": "PYTHON"})):
            try:
                found[check(case)] += 1
            except Exception as error:
                error.add_note(str(case))
                raise

    hunt(__doc__, attempt, "cases agree with PyTorch")
    print(dict(found))


if __name__ == "__main__":
    main()
