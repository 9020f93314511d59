"""A loop nest as a list of loops, whoever wrote it: tinyframe's Opts, or a schedule in the manner
of Halide or of TVM. Two nests that are alike run the same iterations in the same order.

    nest_of(opts)                                  # of our matmul, with these Opts
    matmul_in_halide().split(x, xo, xi, 8).nest    # as Halide is told it
    sch = matmul_in_tvm(); sch.split(…); sch.nest  # as TVM is

All are of one computation, c[y, x] += a[y, k] * b[k, x], in SIZE iterations each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from classroom.tiles import COUNTED_FOR
from tinyframe import Tensor
from tinyframe.codegen import scheduled_kernel
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts, axes
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.nests import AXES
from tinyframe.viz.picture import DrawnPicture

SIZE = 48
NAMES = "yxk"  # rows of the result, its columns, the sum: outermost first
SERIAL, UNROLLED, VECTORIZED, PARALLEL = "serial", "unrolled", "vectorized", "parallel"
KINDS = {
    AxisType.LOOP: SERIAL,
    AxisType.REDUCE: SERIAL,
    AxisType.UPCAST: UNROLLED,
    AxisType.UNROLL: UNROLLED,
    AxisType.VECTOR: VECTORIZED,
    AxisType.THREAD: PARALLEL,
}
COMPARED = (
    OptOps.SPLIT, OptOps.REORDER, OptOps.UPCAST, OptOps.VECTOR, OptOps.UNROLL, OptOps.THREAD,
)  # fmt: skip
AT_ONCE = (UNROLLED, VECTORIZED)
FILLS = {
    SERIAL: AXES[AxisType.LOOP].fill,
    UNROLLED: AXES[AxisType.UNROLL].fill,
    VECTORIZED: AXES[AxisType.VECTOR].fill,
    PARALLEL: AXES[AxisType.THREAD].fill,
}


class NestError(ValueError):
    """A directive that this nest doesn't allow; the message says why."""


class Loop(NamedTuple):
    """axis: y, x or k. step: how far one turn moves along it. size: turns. name: what it is called
    where it was made; it plays no part when nests are compared."""

    axis: str
    step: int
    size: int
    kind: str = SERIAL
    name: str = ""

    @property
    def what(self) -> tuple[str, int, int, str]:
        return self[:4]

    def __repr__(self) -> str:
        step = f" in steps of {self.step}" if self.step > 1 else ""
        return f"{self.size} of {self.axis}{step}, {self.kind}"


class Nest(list[Loop]):
    """Loops, outermost first. `print` shows them, a cell draws them."""

    @property
    def alike(self) -> list[tuple[str, int, int, str]]:
        """What is compared: without loops of one turn; of what is done at once, in which order it
        stands doesn't matter."""
        found: list[tuple[str, int, int, str]] = []
        loops = [loop.what for loop in self if loop.size > 1]
        for at_once, group in groupby(loops, key=lambda what: what[3] in AT_ONCE):
            run = list(group)
            found += sorted(run, key=lambda what: (what[3], what)) if at_once else run
        return found

    def __repr__(self) -> str:
        return "\n".join("  " * depth + repr(loop) for depth, loop in enumerate(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return beside({"": self})._repr_mimebundle_(include, exclude)


# ---- ours ----------------------------------------------------------------------------------------


def matmul() -> Tensor:
    """The matrix product, SIZE × SIZE each, of which all nests are."""
    a, b = (Tensor.zeros(SIZE, SIZE).contiguous().realize() for _ in range(2))
    return a @ b


def nest_of(opts: Sequence[Opt]) -> Nest:
    """The loops of our matmul with these Opts. KernelOptError where one isn't allowed, NestError
    for what is none of these loops."""
    if others := [opt for opt in opts if opt.op not in COMPARED]:
        raise NestError(f"{others[0]} makes something else than loops of y, x and k.")
    item, _ = one_kernel(matmul(), None, "nest_of")
    sink = apply_opts(scheduled_kernel(item.ast, COUNTED_FOR), opts)
    (store,) = sink.src
    reduces = [u for u in sink.toposort() if u.op is Ops.REDUCE]
    every = dict.fromkeys(r for u in (store, *reduces) for r in u.own_ranges)
    loops = axes(sink)
    gone = sorted((r for r in every if r not in loops), key=lambda r: KINDS[axis_type(r)])
    # after the buffer and a condition, an INDEX has a place along each dimension
    y, x = store.src[0].src[2:4]
    reads = [u for u in sink.toposort() if u.op is Ops.INDEX and u is not store.src[0]]
    sums = [p for u in reads for p in u.src[2:] if p.ranges and p not in (y, x)]
    return Nest(_loop(r, {"y": y, "x": x, "k": sums[0]}) for r in (*loops, *gone))


def _loop(r: UOp, places: dict[str, UOp]) -> Loop:
    axis, place = next((axis, place) for axis, place in places.items() if r in place.ranges)
    at = [place.substitute({q: q.const_like(int(turn and q is r)) for q in place.ranges})
          for turn in (0, 1)]  # fmt: skip
    first, second = (int(u.simplify().arg) for u in at)
    return Loop(axis, second - first, extent(r), KINDS[axis_type(r)])


# ---- theirs --------------------------------------------------------------------------------------


class _Loops:
    """What Halide's and TVM's schedules have in common: loops with names."""

    def __init__(self) -> None:
        self.nest = Nest(
            Loop(axis, 1, size, SERIAL, axis)
            for axis, size in zip(NAMES, (SIZE, SIZE, SIZE), strict=True)
        )

    def _at(self, name: Any) -> int:
        for place, loop in enumerate(self.nest):
            if loop.name == str(name):
                return place
        there = ", ".join(loop.name for loop in self.nest)
        raise NestError(f"There is no loop {name}. From outside in, there are: {there}.")

    def _split(self, name: Any, outer: str, inner: str, factor: Any) -> None:
        place = self._at(name)
        loop = self.nest[place]
        if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
            raise NestError(f"A loop is split by a whole number, not by {factor!r}.")
        if loop.size % factor:
            raise NestError(f"{loop.size} turns of {name} don't divide by {factor}.")
        if loop.kind != SERIAL:
            raise NestError(f"{name} is {loop.kind} already. Split it before that.")
        self.nest[place : place + 1] = [
            loop._replace(step=loop.step * factor, size=loop.size // factor, name=outer),
            loop._replace(size=factor, name=inner),
        ]

    def _ordered(self, names: Sequence[Any]) -> None:
        """Loops in this order, outermost first, in the places that they have between them."""
        places = [self._at(name) for name in names]
        if len(set(places)) < len(places):
            raise NestError("A loop is named twice.")
        loops = [self.nest[place] for place in places]
        for place, loop in zip(sorted(places), loops, strict=True):
            self.nest[place] = loop

    def _mark(self, name: Any, kind: str) -> None:
        place = self._at(name)
        if kind in (VECTORIZED, PARALLEL) and self.nest[place].axis == NAMES[-1]:
            raise NestError(f"{name} is part of the sum: its turns have to come one by one.")
        self.nest[place] = self.nest[place]._replace(kind=kind)


class Var(str):
    """The name of a loop: Var("xi")."""


class HalideStage(_Loops):
    """`c.update()`, scheduled in the manner of Halide: each method gives the stage back, so that
    they can be written in a chain."""

    def update(self, number: int = 0) -> HalideStage:
        return self

    def split(self, old: Var, outer: Var, inner: Var, factor: int) -> HalideStage:
        self._split(old, outer, inner, factor)
        return self

    def tile(self, x: Var, y: Var, *more: Any) -> HalideStage:
        """tile(x, y, xi, yi, 8, 6), or with names for the outer loops before those of the inner."""
        *names, x_factor, y_factor = more
        xo, yo, xi, yi = (x, y, *names) if len(names) == 2 else names
        return self.split(x, xo, xi, x_factor).split(y, yo, yi, y_factor).reorder(xi, yi, xo, yo)

    def reorder(self, *loops: Var) -> HalideStage:
        self._ordered(loops[::-1])
        return self

    def vectorize(self, loop: Var, factor: int = 0) -> HalideStage:
        return self._inner(loop, factor, VECTORIZED)

    def unroll(self, loop: Var, factor: int = 0) -> HalideStage:
        return self._inner(loop, factor, UNROLLED)

    def parallel(self, loop: Var) -> HalideStage:
        self._mark(loop, PARALLEL)
        return self

    def _inner(self, loop: Var, factor: int, kind: str) -> HalideStage:
        inner = Var(f"{loop}_{kind}") if factor else loop
        if factor:
            self._split(loop, loop, inner, factor)
        self._mark(inner, kind)
        return self


class TVMSchedule(_Loops):
    """A schedule in the manner of TVM's TensorIR: methods that take loops, and may give some."""

    def get_sblock(self, name: str = "C") -> str:
        return name

    get_block = get_sblock  # its name until 2025

    def get_loops(self, block: Any = None) -> list[Var]:
        return [Var(loop.name) for loop in self.nest]

    def split(self, loop: Var, factors: Sequence[int | None]) -> list[Var]:
        """Two loops of one. One factor may be None: what is left."""
        factors = list(factors)
        if len(factors) != 2 or factors.count(None) == 2:
            raise NestError("Here a loop is split in two: factors=[None, 8].")
        size = self.nest[self._at(loop)].size
        outer, inner = factors
        inner = inner if inner is not None else size // (outer or 1)
        if outer is not None and outer * inner != size:
            raise NestError(f"{outer} times {inner} isn't the {size} turns of {loop}.")
        first, second = Var(f"{loop}_0"), Var(f"{loop}_1")
        self._split(loop, first, second, inner)
        return [first, second]

    def reorder(self, *loops: Var) -> None:
        self._ordered(loops)

    def vectorize(self, loop: Var) -> None:
        self._mark(loop, VECTORIZED)

    def unroll(self, loop: Var) -> None:
        self._mark(loop, UNROLLED)

    def parallel(self, loop: Var) -> None:
        self._mark(loop, PARALLEL)


def matmul_in_halide() -> HalideStage:
    return HalideStage()


def matmul_in_tvm() -> TVMSchedule:
    return TVMSchedule()


# ---- pictures, and what differs ------------------------------------------------------------------

WIDE, HIGH, INDENT, GAP = 190.0, 20.0, 12.0, 26.0  # points


def beside(nests: dict[str, Nest]) -> DrawnPicture:
    """Nests side by side, by name; what the first doesn't have in that place is outlined."""
    first = next(iter(nests.values())).alike
    sheet, said = Drawing(), []
    for column, (name, nest) in enumerate(nests.items()):
        left = column * (WIDE + GAP)
        if name:
            sheet.words(left, 12, name, 12, bold=True, colour=MUTED)
        same = nest.alike == first
        for depth, loop in enumerate(nest):
            odd = not same and (depth >= len(first) or loop.what != first[depth])
            line, thick = (MARKED["color"], 2.4) if odd else (ARROW, 1)
            x, y = left + depth * INDENT, 20 + depth * (HIGH + 4)
            sheet.box(x, y, WIDE - depth * INDENT, HIGH, FILLS[loop.kind], line, words=[repr(loop)],
                      size=9.5, thick=thick)  # fmt: skip
        said += [*([f"---- {name}"] if name else []), repr(nest)]
    headline = "loop nests" if len(nests) > 1 else "a loop nest"
    return DrawnPicture(headline, "\n".join([headline, *said]), sheet)


def difference(got: Nest, wanted: Nest) -> str:
    """What is different about a nest, in a sentence; "" where nothing is."""
    mine, theirs = got.alike, wanted.alike
    if mine == theirs:
        return ""
    if sorted(mine) == sorted(theirs):
        return "These are the right loops, in a different order."
    for name in NAMES:
        own, right = ([w for w in loops if w[0] == name] for loops in (mine, theirs))
        if sorted(w[1:3] for w in own) != sorted(w[1:3] for w in right):
            sizes = " and ".join(str(w[2]) for w in right)
            noun = "loops" if len(right) > 1 else "a loop"
            return f"Along {name}, there should be {noun} of {sizes}."
        if sorted(own) != sorted(right):
            odd = next(w for w in sorted(own) if w not in right)
            kind = next(w[3] for w in right if w[1:3] == odd[1:3] and w not in own)
            return f"The loop of {odd[2]} along {name} should be {kind}, and it is {odd[3]}."
    return "The nests are different."


def next_to(wanted: Nest, yours: Any) -> DrawnPicture:
    """A nest beside the learner's, which is a list of Opts or a function that schedules our matmul
    in Halide's manner; alone where theirs isn't there yet, or isn't possible."""
    made: Nest | None = None
    try:
        if callable(yours):
            stage = yours(matmul_in_halide())
            made = stage.nest if isinstance(stage, HalideStage) else None
        elif yours and yours is not ...:
            made = nest_of(list(yours))
    except (KernelOptError, NestError, TypeError, AttributeError, NameError):
        pass
    return beside({"asked for": wanted} if made is None else {"asked for": wanted, "yours": made})
