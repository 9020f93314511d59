"""Sweeps over all ops: which of them take more than three times as long as PyTorch's?

    python -m benchmarks --sweep               all ops, at 10⁴, 10⁶ and 10⁷ elements
    python -m benchmarks --sweep cumsum sort   only calls that contain one of these

Each library has a process of its own, as in all benchmarks. Ours is measured captured by TinyJit,
unless the shape of a result is data, and eager, one realize a call. A kernel costs something
to launch, whatever it computes. So that is taken off first: once for each kernel, what one of a
single element takes in the same run. Then a ratio above LIMIT needs a reason in REASONS.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, NamedTuple

import numpy as np

from benchmarks.libraries import ABSENT, CALLS, NOT_HERE, parts
from benchmarks.measure import LeftOut, Times, interleaved
from benchmarks.progress import progress
from benchmarks.run import check
from benchmarks.workers import Ready, Worker
from tinyframe.settings import settings

LIMIT = 3.0  # times as long as PyTorch
TURNS = 5
SHAPES = {10**4: (100, 100), 10**6: (1000, 1000), 10**7: (2500, 4000)}
IMAGES = {10**4: (1, 4, 50, 50), 10**6: (4, 16, 125, 125), 10**7: (10, 16, 250, 250)}

# A call, or the names that stand for {} in it. Behind a ` / ` is the same for PyTorch, where it is
# written in another way. With R rows and C columns, which make N elements: x, y, m are floats (m
# with a batch of one), p between 0 and 1, k, e ints (e is never 0), a bools. row, column, v (C) and
# z (N) are floats. i has columns, q places in z, h the columns in another order, labels a column
# for each row. image, filter, pointwise and depthwise are what convolutions want.
CALLS_OF = """
x.{}(): abs neg square sign floor ceil trunc round exp exp2 expm1 sin cos tan sinh cosh tanh atan
x.{}(): asinh erf sigmoid relu isnan isinf isfinite signbit logical_not reciprocal
p.{}(): sqrt rsqrt log log2 log10 log1p asin acos atanh
(p + 1).{}(): acosh
x.{}() / F.{}(x): logsigmoid silu softplus mish softsign elu celu selu relu6 leaky_relu hardtanh
x.{}() / F.{}(x): hardsigmoid hardswish
x.gelu() / F.gelu(x, approximate="tanh")
x.quick_gelu() / x * (1.702 * x).sigmoid()
x.{}(y): add sub mul div maximum minimum fmod hypot copysign logaddexp isclose remainder
x.{}(y): floor_divide logical_and logical_or logical_xor eq ne lt le gt ge
k.{}(e): bitwise_and bitwise_or bitwise_xor floor_divide remainder
p.pow(y)
x ** 2
x ** 3
k << e
k >> e
~k
x + row
x + column
x.lerp(y, 0.25)
x.clamp(-0.5, 1.5)
a.where(x, y) / torch.where(a, x, y)
x.masked_fill(a, 0.5)
x.{}(): sum mean prod max min argmax argmin norm std var
x.{}(0): sum mean amax amin argmax argmin softmax log_softmax logsumexp var std
x.{}(1): sum mean amax amin argmax argmin softmax log_softmax logsumexp var std
a.{}(): any all
a.{}(1): any all
k.count_nonzero(1)
x.normalize() / F.normalize(x)
x.{}(0): cumsum cumprod cummax cummin logcumsumexp
x.{}(1): cumsum cumprod cummax cummin logcumsumexp
z.cumsum(0)
x.sort(1) / x.sort(stable=True, dim=1)
z.sort(0) / z.sort(stable=True)
x.argsort(1) / x.argsort(stable=True, dim=1)
x.topk(8)
z.topk(8)
x.roll((1, -2), (0, 1))
x.roll(4)
x.tril()
x.triu()
x.diagonal().contiguous()
v.diag()
v.meshgrid(v) / torch.meshgrid(v, v, indexing="ij")
x.t().contiguous()
x.flip((0, 1))
x.repeat(2, 2)
x.repeat_interleave(2, 1)
T.cat([x, y])
T.cat([x, y], 1)
T.stack([x, y], 1)
x.pad((1, 2, 3, 4)) / F.pad(x, (1, 2, 3, 4))
image.pad((2, 1, 1, 2), mode="reflect") / F.pad(image, (2, 1, 1, 2), mode="reflect")
x.clone()
x.{}(): half double int short bool
k.{}(): float long
x.gather(1, i)
x.index_select(1, h)
x.take_along_dim(i, 1)
x[:, h]
z[q]
z.take(q)
x[a]
x.index_add(1, h, y)
x.index_copy(1, h, y)
x.index_fill(1, h, 0.5)
z.scatter_add(0, q, z)
x.scatter_add(1, i, y)
x.scatter(1, i, y)
x.scatter_reduce(1, i, y, "amax")
z[q] = 0.5
x.masked_select(a)
k.nonzero()
k.isin(v.int()) / torch.isin(k, v.int())
(q % 1000).bincount(minlength=1000)
k.unique()
labels.one_hot(C) / F.one_hot(labels, C)
z.dot(z)
x.matmul(v)
x.t().matmul(column)
x.matmul(x.t())
x.linear(x.t()) / F.linear(x, x)
T.einsum("ij,ij->i", x, y)
x.layernorm() / F.layer_norm(x, (C,))
x.rms_norm() / F.rms_norm(x, (C,))
m.scaled_dot_product_attention(m, m) / F.scaled_dot_product_attention(m, m, m)
image.groupnorm(1) / F.group_norm(image, 1)
image.conv2d(filter, padding=1) / F.conv2d(image, filter, padding=1)
image.conv2d(pointwise) / F.conv2d(image, pointwise)
image.conv2d(filter, stride=2) / F.conv2d(image, filter, stride=2)
image.conv2d(depthwise, groups=len(depthwise)) / F.conv2d(image, depthwise, groups=len(depthwise))
image.conv_transpose2d(filter) / F.conv_transpose2d(image, filter)
image.{}((2, 2)) / F.{}(image, (2, 2)): max_pool2d avg_pool2d
image.interpolate((60, 60)) / F.interpolate(image, (60, 60), mode="bilinear")
x.{}(labels) / F.{}(x, labels): cross_entropy
x.log_softmax(1).nll_loss(labels) / F.nll_loss(x.log_softmax(1), labels)
p.binary_crossentropy(p.flip(0)) / F.binary_cross_entropy(p, p.flip(0))
x.binary_crossentropy_logits(p) / F.binary_cross_entropy_with_logits(x, p)
T.rand(R, C)
T.randn(R, C)
T.randint(R, C, low=0, high=9) / torch.randint(0, 9, (R, C))
T.randperm(N)
x.dropout() / F.dropout(x)
T.arange(N)
T.linspace(0, 1, N)
T.eye(C)
T.full((R, C), 4.0)
"""

PYTHON = "Python before its kernels: 0.15 ms a call, and some 0.02 for each op that it is made of"
EXACT = "exact for any quotient, in steps of integers that each language has"
# What may take longer: a call and how, as patterns; at most how many elements it may be, and how
# many times as long; and why.
REASONS: tuple[tuple[str, str, int, float, str], ...] = (
    ("*", "eager", 10**4, 100.0, PYTHON),
    ("*", "eager", 10**6, 25.0, PYTHON),
    ("x.diagonal()*", "eager", 10**7, 12.0, PYTHON),
    ("v.meshgrid(v)", "eager", 10**7, 5.0, PYTHON),
    ("x.fmod(y)", "captured", 10**6, 10.0, EXACT),
    ("x.remainder(y)", "captured", 10**6, 9.0, EXACT),
    ("x.floor_divide(y)", "captured", 10**6, 8.0, EXACT),
    ("image.pad(*reflect*", "captured", 10**6, 20.0, "each side is a mask for every element"),
    ("T.randperm(N)", "captured", 10**6, 5.0, "random keys are sorted"),
    ("k.unique()", "eager", 10**7, 5.0, "all numbers are sorted"),
)
RANDOM = ("T.rand", "x.dropout", "x.topk", "z.topk")  # other numbers, or other places of equal ones


class Call(NamedTuple):
    """A call, as it is written for each library, of arrays with `size` elements."""

    ours: str
    theirs: str
    size: int

    def __str__(self) -> str:
        return f"{self.ours}, {self.size:,}"


def calls() -> Iterator[tuple[str, str]]:
    """Each call as it is written for tinyframe and for PyTorch."""
    for line in CALLS_OF.strip().splitlines():
        form, _, names = line.partition(": ") if "{}" in line else (line, "", "")
        for name in names.split() or [""]:
            ours, _, theirs = form.replace("{}", name).partition(" / ")
            yield ours, theirs or ours


def inputs(call: str, size: int) -> dict[str, np.ndarray]:
    """The arrays that a call names."""
    rng, both = np.random.default_rng(0), SHAPES.get(size, (1, size))
    (rows, columns), image = both, IMAGES.get(size, (1, 1, 4, 4))
    floats = {"x": both, "y": both, "m": (1, *both), "row": (1, columns), "column": (rows, 1),
              "v": (columns,), "z": (size,), "image": image, "filter": (*image[1:2] * 2, 3, 3),
              "pointwise": (*image[1:2] * 2, 1, 1), "depthwise": (image[1], 1, 3, 3)}  # fmt: skip
    ints = {"k": (-99, 99, both), "e": (1, 9, both), "i": (0, columns, both),
            "q": (0, size, (size,)), "labels": (0, columns, (rows,))}  # fmt: skip
    made: dict[str, np.ndarray] = {
        **{name: rng.standard_normal(shape, np.float32) for name, shape in floats.items()},
        **{name: rng.integers(low, high, shape, np.int32)
           for name, (low, high, shape) in ints.items()},
        "p": rng.uniform(0.01, 0.99, both).astype(np.float32),
        "a": rng.random(both) < 0.5,
        "h": rng.permutation(columns).astype(np.int32),
    }  # fmt: skip
    return {name: made[name] for name in re.findall(r"\w+", call) if name in made}


def evaluated(call: str, names: dict[str, Any], size: int) -> list[Any]:
    """What a call gives; of a change, what was changed."""
    rows, columns = SHAPES.get(size, (1, size))
    names = names | {"N": size, "R": rows, "C": columns}
    if " = " in call:
        exec(call, names)
        return [names[call[0]]]
    return parts(eval(call, names))


def ours(call: str, size: int, captured: bool) -> Ready:
    """The call in tinyframe, ready to be timed. LeftOut where it can't be captured."""
    from tinyframe import Tensor, TinyJit
    from tinyframe.run.capture import JitError

    arrays = inputs(call, size)
    tensors = [Tensor(array).realize() for array in arrays.values()]

    def body(*tensors: Tensor) -> list[Tensor]:
        found = evaluated(call, {"T": Tensor} | dict(zip(arrays, tensors, strict=True)), size)
        Tensor.realize(*found)
        return found

    step: Any = TinyJit(body) if captured else body
    try:
        result = [step(*tensors) for _ in range(CALLS)][-1]
    except JitError as why:
        raise LeftOut(NOT_HERE, str(why)) from None
    facts = {"kernels": len(step.captured.kernels)} if captured else {}
    return Ready(lambda: step(*tensors), lambda: [r.numpy() for r in result], facts)


def theirs(call: str, size: int) -> Ready:
    """The call in PyTorch, whose places are int64."""
    try:
        import torch
    except ImportError:
        raise LeftOut(ABSENT, "PyTorch is not installed") from None

    names: dict[str, Any] = {"T": torch, "torch": torch, "F": torch.nn.functional}
    for name, array in inputs(call, size).items():
        is_place = name in ("i", "h", "q", "labels")
        names[name] = torch.from_numpy(array.astype(np.int64) if is_place else array)
    result = [evaluated(call, names, size) for _ in range(CALLS)][-1]
    return Ready(lambda: evaluated(call, names, size), lambda: [r.numpy() for r in result])


class Found(NamedTuple):
    """One measurement, in seconds. launches: what its kernels cost, whatever they compute."""

    call: Call
    how: str
    ours: float
    theirs: float
    launches: float

    @property
    def ratio(self) -> float:
        """How many times as long as PyTorch."""
        return (self.ours - self.launches) / self.theirs

    @property
    def reason(self) -> str:
        """Why it may take that long, if it may."""
        return next((why for call, how, size, most, why in REASONS
                     if fnmatch(self.call.ours, call) and fnmatch(self.how, how)
                     and self.call.size <= size and self.ratio <= most), "")  # fmt: skip

    def __str__(self) -> str:
        times = f"{self.ours * 1e3:.3g} ms, PyTorch {self.theirs * 1e3:.3g}"
        return f"{self.ratio:7.1f}  {self.call}, {self.how}: {times}. {self.reason}"


def sweep(chosen: Sequence[Call]) -> tuple[list[Found], list[str]]:
    """What was measured; and what could not be, with why."""
    found: list[Found] = []
    left_out: list[str] = []
    names = {"captured": "tinyframe", "eager": "tinyframe", "torch": "torch"}
    workers = {how: Worker(name, settings.THREADS) for how, name in names.items()}
    with contextlib.ExitStack() as stack:
        for worker in workers.values():
            stack.enter_context(worker)
        launch = {}
        for how in ("captured", "eager"):
            workers[how].prepare(ours, "z + 1", 1, how == "captured")
            launch[how] = interleaved({how: workers[how]}, TURNS)[how].median
        tell = stack.enter_context(progress(len(chosen)))
        for call in chosen:
            tell(str(call))
            try:
                times, kernels = measure(call, workers)
            except LeftOut as why:
                left_out.append(f"{call}: {why}")
                continue
            found += [
                Found(call, how, times[how].median, times["torch"].median, kernels * launch[how])
                for how in launch if how in times
            ]  # fmt: skip
    return found, left_out


def measure(call: Call, workers: Mapping[str, Worker]) -> tuple[dict[str, Times], int]:
    """Times of each worker, where results are equal, and the number of kernels."""
    programs = dict(workers)
    programs["torch"].prepare(theirs, call.theirs, call.size)
    programs["eager"].prepare(ours, call.ours, call.size, False)
    kernels = 1
    try:
        kernels = programs["captured"].prepare(ours, call.ours, call.size, True)["kernels"]
    except LeftOut as why:
        if why.mark != NOT_HERE:
            raise
        del programs["captured"]
    if not call.ours.startswith(RANDOM):
        expected = results(programs["torch"])
        for how in programs.keys() - {"torch"}:
            check(results(programs[how]), expected)
    return interleaved(programs, TURNS), kernels


def results(worker: Worker) -> list[np.ndarray]:
    return [np.nan_to_num(np.asarray(result, np.float64)) for result in worker.results()]


def main(wanted: Sequence[str]) -> bool:
    """Measures the calls that contain one of these, or all, and prints those that are too slow.
    Gives whether each of them has a reason."""
    chosen = [Call(*call, size) for size, call in itertools.product(SHAPES, calls())
              if not wanted or any(text in call[0] for text in wanted)]  # fmt: skip
    found, left_out = sweep(chosen)
    slow = sorted((f for f in found if f.ratio > LIMIT), key=lambda f: -f.ratio)
    print(f"{len(found)} measured; {len(slow)} take more than {LIMIT:g} times as long as PyTorch:")
    print(*slow, *left_out, sep="\n")
    return not left_out and all(f.reason for f in slow)
