"""What each op means and where it may stand: the reference of the IR, as tables to check with.

The same node type serves three levels, which differ in the ops that are legal. A row is a pattern
and a condition; the first row whose pattern matches decides, and an op without a row is illegal.

    verify(sink, spec_kernel)       # raises SpecError, naming the node and what is wrong with it

**Values** (elementwise, at every level; `evaluate.py` is the definition in Python):

    ADD SUB MUL NEG             integers wrap around modulo 2**bits; on bool ADD is or, MUL is and
    IDIV MOD                    floor division of integers and what it leaves over: -7 // 2 = -4,
                                -7 % 2 = 1; by 0 both give 0 (they never trap)
    CDIV CMOD                   truncating division, as C has it: -7 / 2 = -3, -7 % 2 = -1. Where
                                nothing is negative both kinds agree, and only there may a renderer
                                write C's `/` for IDIV
    FDIV RECIP SQRT             exactly rounded, IEEE 754: 1/0 = inf, 0/0 = NaN, SQRT(-1) = NaN
    FMOD                        what truncating division of floats leaves over, with the sign of x;
                                exact, as C's fmod: FMOD(-5.5, 2) = -1.5, FMOD(x, inf) = x, and
                                NaN for an infinite x or y = 0
    EXP2 LOG2 SIN COS           within a few units of the last place; LOG2(0) = -inf, LOG2(-1) = NaN
    POW                         C's pow: x**0 = 1 even for NaN, (-8)**(1/3) = NaN
    MAX MIN                     NaN if either is NaN
    CMPLT CMPLE CMPNE CMPEQ     give bool; a comparison with NaN is false, CMPNE true. Of vectors
                                they may also give a mask: signed integers as wide as what is
                                compared, -1 (all bits set) where it holds and 0 elsewhere
    AND OR XOR                  bit by bit; logical on bool. "not x" is `x != True`
    SHL SHR                     of integers; SHR keeps the sign. A count of the width or more, or
                                below 0, shifts everything out: what is left is 0, or the sign
                                (C leaves that open, so a decomposition keeps counts in range)
    TRUNC                       the whole part of a float, rounded towards 0
    CAST                        the nearest value of the other dtype: float to int drops the
                                fraction (any value where it does not fit), int to int wraps
                                around, to bool is `!= 0`
    BITCAST                     the same bits read as another dtype of the same size
    WHERE(c, x, y)              x where c, else y; both are computed. Of vectors c may be a mask as
                                wide as they are
    MULACC(x, y, z)             x * y + z, rounded once or twice
    THREEFRY(counter, key)      64 random bits

**Sizes** in the argument of a movement op or an INDEX are ints, or expressions of Variables (BIND,
DEFINE_VAR), simplified, so that equal sizes are one object.

**Tensor level.** Every node has a shape; sources of an elementwise op have equal shapes.

    CONST                       one value of shape ()
    BUFFER(UNIQUE, DEVICE)      memory of `arg` elements, shape (arg,)
    IOTA                        0, 1, … arg-1: each element is its own index, shape (arg,)
    RESHAPE PERMUTE EXPAND PAD SHRINK FLIP WINDOW UNWINDOW
                                see movement.py; PAD and UNWINDOW give 0 where the source has
                                nothing
    REDUCE_AXIS                 arg = (ADD | MUL | MAX, axes); those axes are kept with size 1
    COPY(x, DEVICE)             x on another device
    CONTIGUOUS, FUSE, DETACH    x; stored row-major; with nothing stored on the way to it; hidden
                                from the gradient
    ASSIGN(target, value)       the memory of target after value was written to it
    BIND(DEFINE_VAR, CONST)     a Variable with its value for this run
    KERNEL                      a scheduled kernel; what it reads and writes are its sources

**Kernel level.** Scalars inside loops that are still abstract.

    RANGE(size)                 a loop variable over 0..size-1, in its dtype, an int that holds its
                                size; arg = (number, kind of axis). Only the last block of a long
                                sum has a size that a loop around it changes. GLOBAL, LOCAL and
                                GROUP ranges are there at once, as blocks and threads; SPECIALs
                                take their place before there are programs
    DEFINE_VAR                  a Variable: arg = (name, smallest, largest value)
    INDEX(memory, valid, i, …)  the place of element [i, …] of memory that has the shape `arg`;
                                it may be read or written only where `valid` is true
    LOAD(INDEX)                 the element; 0 where `valid` is false, and then nothing is read
    STORE(INDEX, value, RANGE…) writes the value for every combination of its ranges; nothing where
                                `valid` is false
    REDUCE(value, RANGE…)       arg of the value over all combinations of its ranges; OR and AND
                                come from decompositions
    STAGE(value, RANGE…)        the values over its ranges, kept in memory `arg`; INDEXes read it.
                                LOCAL memory belongs to a thread, or where there are blocks of
                                threads to a block: no LOCAL or GROUP range is around a STAGE, and
                                one that owns them keeps a value of each thread
    SINK(STORE…)                the kernel. DEFINE_GLOBAL: its argument number `arg`

**Program level.** A flat list; a node stands after its sources. Values may be vectors.

    RANGE … ENDRANGE(RANGE)     a loop, run 0..size-1; a THREAD range runs from the launch's
                                start to its stop
    IF(c) … ENDIF(IF)           runs what is between where c
    INDEX(memory, valid, i)     one flat index; arg, if not None: how far apart a vector's lanes lie
    LOAD, STORE                 of a dtype with n lanes: n elements from that index on, side by side
                                unless the INDEX says otherwise
    DEFINE_LOCAL, DEFINE_REG    scratch memory; an accumulator
    VECTORIZE(x, …), GEP(v)     scalars as a vector; lane `arg` of one
    SPECIAL                     an int, 0..size-1: the number of the block (gidx0, gidx1, gidx2) or
                                of the thread in its block (lidx0, …), arg = (name, size)
    BARRIER                     all threads of a block get here before any goes on; arg tells one
                                from another. It is in no loop that some of them do not run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tinyframe.dtype import AddrSpace, DType, Invalid, PtrDType, dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import (
    FIRST_RANGE,
    AxisType,
    GroupOp,
    Ops,
    UOp,
    elements,
    index_dtype,
    resolve,
    sint,
)


class SpecError(AssertionError):
    """A graph that is not legal at its level: a mistake in the compiler, not in the program."""


Check = Callable[[UOp], bool]


def row(ops: Ops | Iterable[Ops], check: Check) -> tuple[UPat, Callable[..., Any]]:
    """Nodes with one of `ops` are legal where `check` holds."""
    return UPat(ops, name="u"), lambda u: bool(check(u))


def same_dtypes(u: UOp) -> bool:
    return all(s.dtype is u.dtype for s in u.src)


def sources(u: UOp, *ops: Ops) -> bool:
    """Whether the sources are just these ops, in this order."""
    return tuple(s.op for s in u.src) == ops


def is_index(u: UOp) -> bool:
    return dtypes.is_int(u.dtype) and u.dtype.count == 1


def is_pointer(u: UOp, space: AddrSpace) -> bool:
    return isinstance(u.dtype, PtrDType) and u.dtype.addrspace is space and not u.src


def closes_ranges(u: UOp) -> bool:
    """A REDUCE, STAGE or STORE owns its ranges, each once."""
    ranges = u.own_ranges
    return all(r.op is Ops.RANGE for r in ranges) and len(set(ranges)) == len(ranges)


def constant_fits(u: UOp) -> bool:
    kind = float if dtypes.is_float(u.dtype) else int if dtypes.is_int(u.dtype) else bool
    return u.dtype.count == 1 and (type(u.arg) is kind or u.arg is Invalid)


def arity(u: UOp) -> bool:
    return len(u.src) == (1 if u.op in GroupOp.Unary else 2 if u.op in GroupOp.Binary else 3)


def number_of(*families: Callable[[DType], bool]) -> Check:
    """All of one dtype, which is of one of the families."""
    return lambda u: arity(u) and same_dtypes(u) and any(family(u.dtype) for family in families)


def selects(u: UOp) -> bool:
    condition, yes, no = u.src
    is_condition = dtypes.is_bool(condition.dtype) and condition.dtype.count in (1, u.dtype.count)
    is_condition = is_condition or (u.dtype.count > 1 and condition.dtype is u.dtype.mask())
    return is_condition and yes.dtype is no.dtype is u.dtype


def compares(u: UOp) -> bool:
    x, y = u.src
    results = {dtypes.bool.vec(x.dtype.count)} | ({x.dtype.mask()} if x.dtype.count > 1 else set())
    return u.dtype in results and x.dtype is y.dtype


is_float, is_int, is_bool = dtypes.is_float, dtypes.is_int, dtypes.is_bool

# fmt: off
values = [
    row((Ops.RECIP, Ops.SQRT, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.FDIV, Ops.FMOD),
        number_of(is_float)),
    row((Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR), number_of(is_int)),
    row((Ops.AND, Ops.OR, Ops.XOR), number_of(is_int, is_bool)),
    row((Ops.TRUNC, Ops.POW, Ops.NEG, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.MULACC),
        number_of(is_int, is_float, is_bool)),
    row(Ops.MIN, number_of(is_int, is_float)),
    row(Ops.THREEFRY, lambda u: arity(u) and same_dtypes(u) and u.dtype.scalar() is dtypes.uint64),
    row(GroupOp.Comparison, compares),
    row(Ops.WHERE, selects),
    row(Ops.CAST, lambda u: len(u.src) == 1 and u.dtype.count == u.src[0].dtype.count),
    row(Ops.BITCAST, lambda u: len(u.src) == 1 and u.dtype.itemsize == u.src[0].dtype.itemsize),
    row(Ops.DEFINE_VAR, lambda u: is_index(u) and isinstance(u.arg[0], str)
        and u.arg[1] <= u.arg[2]),
]


# fmt: on
spec_values = PatternMatcher(values)


# ---- tensor level -------------------------------------------------------------------------------


def equal(a: sint, b: sint) -> bool:
    """Whether two sizes, either of which may be symbolic, can be the same."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    x, y = (s if isinstance(s, UOp) else UOp.const(index_dtype(s), s) for s in (a, b))
    return resolve(x.eq(y), default=True)


def equal_shapes(a: tuple, b: tuple) -> bool:
    return len(a) == len(b) and all(map(equal, a, b))


def elementwise(u: UOp) -> bool:
    return all(equal_shapes(s.shape, u.shape) for s in u.src) and spec_values.rewrite(u) is True


def assigns(u: UOp) -> bool:
    """ASSIGN(target, value); with a third source (the scheduler's form) that is the target, a view
    of the first, whose whole memory it then stands for."""
    state, value, *view = u.src
    target = view[0] if view else state
    same = value.op is Ops.KERNEL or (same_dtypes(u) and equal_shapes(target.shape, value.shape))
    return u.dtype is target.dtype and len(view) < 2 and same


def moves(fits: Callable[[UOp, tuple], bool]) -> Check:
    """A movement op: one source of the same dtype, and an argument that fits its shape."""
    return lambda u: len(u.src) == 1 and same_dtypes(u) and fits(u, u.src[0].shape)


def window_fits(u: UOp, shape: tuple) -> bool:
    axis, size, stride, dilation = u.arg
    reach = dilation * (size - 1)  # beyond a window's first element
    return (
        0 <= axis < len(shape)
        and size > 0
        and stride > 0
        and dilation > 0
        and resolve(shape[axis] >= 0 if size == 1 else reach < shape[axis])
    )


def unwindow_fits(u: UOp, shape: tuple) -> bool:
    axis, stride, dilation, length = u.arg
    return 0 <= axis < len(shape) - 1 and stride > 0 and dilation > 0 and resolve(length >= 0)


def reduces(u: UOp) -> bool:
    op, axes = u.arg
    return (
        len(u.src) == 1
        and same_dtypes(u)
        and op in GroupOp.Reduce
        and all(0 <= a < len(u.src[0].shape) for a in axes)
        and list(axes) == sorted(set(axes))
    )


# fmt: off
spec_tensor = PatternMatcher([
    row(Ops.UNIQUE, lambda u: isinstance(u.arg, int) and not u.src),
    row(Ops.DEVICE, lambda u: isinstance(u.arg, (str, tuple)) and not u.src),
    row(Ops.IOTA, lambda u: all(s.op is Ops.DEVICE for s in u.src) and dtypes.is_int(u.dtype)
        and isinstance(u.arg, int) and u.arg >= 0),
    row(Ops.BUFFER, lambda u: sources(u, Ops.UNIQUE, Ops.DEVICE) and isinstance(u.arg, int)
        and u.arg >= 0),
    row(Ops.CONST, lambda u: constant_fits(u) and (not u.src or sources(u, Ops.DEVICE))),
    row(Ops.COPY, lambda u: len(u.src) == 2 and u.src[1].op is Ops.DEVICE
        and u.dtype is u.src[0].dtype),
    row((Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH), lambda u: len(u.src) == 1 and same_dtypes(u)),
    row(Ops.ASSIGN, assigns),
    row(Ops.BIND, lambda u: sources(u, Ops.DEFINE_VAR, Ops.CONST) and same_dtypes(u)
        and u.src[0].vmin <= u.src[1].arg <= u.src[0].vmax),
    row(Ops.KERNEL, lambda u: u.arg is not None),
    row(Ops.SINK, lambda u: u.dtype is dtypes.void),
    row(Ops.RESHAPE, moves(lambda u, shape: equal(elements(shape), elements(u.arg))
        and all(resolve(s >= 0) for s in u.arg))),
    row(Ops.PERMUTE, moves(lambda u, shape: sorted(u.arg) == list(range(len(shape))))),
    row(Ops.EXPAND, moves(lambda u, shape: len(u.arg) == len(shape) and all(
        resolve(n >= 0) and (equal(s, 1) or equal(s, n))
        for s, n in zip(shape, u.arg, strict=True)))),
    row(Ops.PAD, moves(lambda u, shape: len(u.arg) == len(shape) and all(
        resolve(a >= 0) and resolve(b >= 0) for a, b in u.arg))),
    row(Ops.SHRINK, moves(lambda u, shape: len(u.arg) == len(shape) and all(
        resolve(a >= 0) and resolve(a <= b) and resolve(b <= s)
        for (a, b), s in zip(u.arg, shape, strict=True)))),
    row(Ops.FLIP, moves(lambda u, shape: len(u.arg) == len(shape)
        and all(isinstance(f, bool) for f in u.arg))),
    row(Ops.WINDOW, moves(window_fits)),
    row(Ops.UNWINDOW, moves(unwindow_fits)),
    row(Ops.REDUCE_AXIS, reduces),
    row(GroupOp.Elementwise, elementwise),
    *values,
])
# fmt: on


# ---- kernel level -------------------------------------------------------------------------------


def index_fits(u: UOp) -> bool:
    """INDEX(memory, valid, one expression per dimension), or one flat one where arg is no shape."""
    memory, valid, *ix = u.src
    is_memory = isinstance(memory.dtype, PtrDType) or memory.op is Ops.STAGE
    dimensions = len(u.arg) if isinstance(u.arg, tuple) else 1
    return (is_memory and valid.dtype is dtypes.bool
            and all(map(is_index, ix)) and len(ix) == dimensions)  # fmt: skip


def counts(u: UOp) -> bool:
    """A RANGE. Nothing runs for nothing, and a loop over more than its dtype holds would not
    end."""
    (size,) = u.src
    fits = size.op is not Ops.CONST or 0 < size.arg <= dtypes.max(u.dtype)
    return u.dtype is size.dtype and fits and size.vmax > 0


def is_loop(u: UOp) -> bool:
    return (is_index(u) and len(u.src) == 1 and is_index(u.src[0])
            and isinstance(u.arg[1], AxisType) and counts(u))  # fmt: skip


def stores(u: UOp) -> bool:
    index, value = u.src[:2]
    fits = value.dtype.scalar() is index.dtype.base.scalar()
    return index.op is Ops.INDEX and fits and closes_ranges(u)


# names of a block's and of a thread's numbers, by axis
PLACES = {f"{letter}idx{n}" for letter in "gl" for n in range(3)}
THREAD_KINDS = {AxisType.LOCAL, AxisType.GROUP}
BLOCK_KINDS = {AxisType.GLOBAL, *THREAD_KINDS}

# fmt: off
memory_rows = [
    row(Ops.CONST, lambda u: constant_fits(u) and not u.src),
    row(Ops.DEFINE_GLOBAL, lambda u: is_pointer(u, AddrSpace.GLOBAL) and isinstance(u.arg, int)),
    row(Ops.DEFINE_LOCAL, lambda u: is_pointer(u, AddrSpace.LOCAL)),
    row(Ops.DEFINE_REG, lambda u: is_pointer(u, AddrSpace.REG)),
    row(Ops.SPECIAL, lambda u: u.dtype is dtypes.int and not u.src and u.arg[0] in PLACES),
    row(Ops.RANGE, is_loop),
    row(Ops.INDEX, index_fits),
    row(Ops.LOAD, lambda u: u.src[0].op is Ops.INDEX
        and u.dtype.scalar() is u.src[0].dtype.base.scalar()),
    row(Ops.VECTORIZE, lambda u: len(u.src) == u.dtype.count > 1
        and all(s.dtype is u.dtype.scalar() for s in u.src)),
    row(Ops.GEP, lambda u: u.dtype is u.src[0].dtype.scalar()
        and 0 <= u.arg < u.src[0].dtype.count),
]

spec_kernel = PatternMatcher([
    row(Ops.SINK, lambda u: all(s.op in (Ops.STORE, Ops.SINK) for s in u.src) and not u.ranges),
    row(Ops.STORE, stores),
    row(Ops.REDUCE, lambda u: u.arg in (*GroupOp.Reduce, Ops.OR, Ops.AND)
        and u.dtype is u.src[0].dtype and closes_ranges(u)),
    row(Ops.STAGE, lambda u: isinstance(u.arg, AddrSpace) and closes_ranges(u)
        and not any(r.arg[1] in THREAD_KINDS for r in u.ranges)),
    *memory_rows,
    *values,
])


# ---- program level ------------------------------------------------------------------------------


spec_program = PatternMatcher([
    row(Ops.STORE, lambda u: len(u.src) == FIRST_RANGE[Ops.STORE] and stores(u)),
    row(Ops.INDEX, lambda u: not isinstance(u.arg, tuple) and index_fits(u)),
    row(Ops.ENDRANGE, lambda u: sources(u, Ops.RANGE)),
    row(Ops.RANGE, lambda u: is_loop(u) and u.arg[1] not in BLOCK_KINDS),
    row(Ops.BARRIER, lambda u: u.dtype is dtypes.void and not u.src),
    row(Ops.IF, lambda u: u.src[0].dtype is dtypes.bool),
    row(Ops.ENDIF, lambda u: sources(u, Ops.IF)),
    *memory_rows,
    *values,
])

# fmt: on
LEVELS = {id(spec_tensor): "tensor", id(spec_kernel): "kernel", id(spec_program): "program"}


def verify(graph: UOp | list[UOp], spec: PatternMatcher) -> None:
    """Raises SpecError at the first node (sources first) that `spec` does not allow; of a flat
    program also where a node stands before what it needs, or a loop is not closed."""
    level = LEVELS.get(id(spec), "this")
    for u in graph.toposort() if isinstance(graph, UOp) else graph:
        try:
            legal = spec.rewrite(u)
        except (IndexError, TypeError, ValueError, AttributeError) as error:  # of another form
            raise _error(u, level, f"is malformed ({error})") from error
        if not legal:
            raise _error(u, level, "has no meaning there" if legal is None else "breaks its rule")
    if not isinstance(graph, UOp):
        _verify_order(graph)


def _error(u: UOp, level: str, what: str) -> SpecError:
    node = f"{u.op} {u.dtype} arg={u.arg!r}"
    sources = [f"\n  source {n}: {s.op} {s.dtype} {s.arg!r}" for n, s in enumerate(u.src)]
    return SpecError(f"{node}, at the {level} level, {what}; see spec.py{''.join(sources)}")


CLOSES = {Ops.ENDRANGE: Ops.RANGE, Ops.ENDIF: Ops.IF}


def _verify_order(program: list[UOp]) -> None:
    seen: set[UOp] = set()
    open_blocks: list[UOp] = []
    for u in program:
        if missing := [s for s in u.src if s not in seen]:
            raise _error(u, "program", f"stands before its source {missing[0].op}")
        if u in seen:
            raise _error(u, "program", "stands there twice")
        seen.add(u)
        if u.op in CLOSES:
            if not open_blocks or open_blocks.pop() is not u.src[0]:
                raise _error(u, "program", "does not close the innermost open block")
        elif outside := [r for r in u.ranges if r is not u and r not in open_blocks]:
            what = f"stands outside the loop {outside[0].arg} that it depends on"
            raise _error(u, "program", what)
        elif u.op in CLOSES.values():
            open_blocks.append(u)
    if open_blocks:
        raise _error(open_blocks[-1], "program", "is never closed")
