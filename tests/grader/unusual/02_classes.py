"""Views that are objects, counts that are Counters, kinds that are enumerations."""

from collections import Counter, OrderedDict, UserDict, deque
from dataclasses import dataclass, fields, replace
from enum import StrEnum, auto
from types import MappingProxyType, SimpleNamespace

from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp


class Kind(StrEnum):
    ELEMENTWISE, REDUCTION, MOVEMENT = auto(), auto(), auto()


class Loop(StrEnum):
    LOOP, REDUCE = auto(), auto()


KINDS = ((Kind.ELEMENTWISE, GroupOp.Elementwise), (Kind.MOVEMENT, GroupOp.Movement))


def kinds_of(tensor):
    ops = [u.op for u in tensor.uop.toposort()]
    found = Counter({kind: sum(map(group.__contains__, ops)) for kind, group in KINDS})
    found[Kind.REDUCTION] += ops.count(Ops.REDUCE_AXIS)
    return MappingProxyType(found)


def kinds_in_kernel(kernel):
    nodes = kernel.toposort()
    places = set().union(*(u.toposort() for u in nodes if u.op is Ops.INDEX))
    of = SimpleNamespace(places=0, values=0)
    for u in nodes:
        if u.op in GroupOp.Elementwise:
            setattr(of, where := "places" if u in places else "values", getattr(of, where) + 1)
    sums = len([None for u in nodes if u.op is Ops.REDUCE])
    return OrderedDict(
        {Kind.REDUCTION: sums, Kind.MOVEMENT: of.places, Kind.ELEMENTWISE: of.values}
    )


def loops_of(kernel):
    loops = {u.arg[0]: (u.src[0].arg, Loop(u.arg[1].name.lower()))
             for u in kernel.toposort() if u.op is Ops.RANGE}  # fmt: skip
    return deque(loops[number] for number in sorted(loops))


def loops_of_sum(shape, axes):
    loops, step = deque(), 1
    for axis in reversed(range(len(shape))):
        loops.appendleft((shape[axis], Loop.REDUCE if axis in axes else Loop.LOOP, step))
        step *= shape[axis]
    return sorted(loops, key=lambda loop: loop[1] is Loop.REDUCE)


@dataclass(frozen=True)
class View:
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def at(self, index):
        return self.offset + sum(map(int.__mul__, index, self.strides))

    def permute(self, axes):
        return View(*(tuple(each[n] for n in axes) for each in (self.shape, self.strides)),
                    self.offset)  # fmt: skip

    def flip(self, axes):
        ends = tuple((s - 1) * (n in axes) for n, s in enumerate(self.shape))
        strides = tuple(-s if n in axes else s for n, s in enumerate(self.strides))
        return replace(self, strides=strides, offset=self.at(ends))

    def shrink(self, bounds):
        begins, stops = zip(*bounds, strict=True)
        shape = tuple(b - a for a, b in zip(begins, stops, strict=True))
        return replace(self, shape=shape, offset=self.at(begins))

    def expand(self, shape):
        strides = tuple(s * (old == new) for s, old, new in zip(self.strides, self.shape, shape,
                                                                strict=True))  # fmt: skip
        return replace(self, shape=tuple(shape), strides=strides)

    def unfold(self, argument):
        axis, size, step = argument
        shape, strides = [*self.shape, size], [*self.strides, self.strides[axis]]
        shape[axis], strides[axis] = (shape[axis] - size) // step + 1, strides[axis] * step
        return View(tuple(shape), tuple(strides), self.offset)


def cell(view, index):
    return View(**view).at(index)


def moved(view, name, argument):
    found = getattr(View(**view), name)(argument)
    return UserDict({field.name: getattr(found, field.name) for field in fields(View)})


class Water:
    """Where it is; it flows."""

    def __init__(self, maze, there):
        self.maze, self.there = maze, there

    def pushed(self, axis, by):
        """One cell further along an axis; what flows over the edge is gone."""
        size = self.there.shape[axis]
        widths, bounds = [(0, 0)] * 2, [(0, n) for n in self.there.shape]
        widths[axis], bounds[axis] = ((1, 0), (0, size)) if by > 0 else ((0, 1), (1, size + 1))
        return self.there.pad(*widths).shrink(*bounds)

    def __next__(self):
        found = self.there
        for axis in (0, 1):
            for by in (1, -1):
                found = found.maximum(self.pushed(axis, by) * self.maze)
        self.there = found
        return found


def distances(maze, start, steps):
    water = Water(maze, start)
    dry = [1 - start, *(1 - next(water) for _ in range(steps))]
    return sum(dry[1:], dry[0])
