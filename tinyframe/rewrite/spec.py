"""What each op means and where it is legal: the reference of the IR, with tables that check it.

The same node type serves three levels, which differ in the ops that are legal. A row is a pattern
and a condition; the first row whose pattern matches decides, and an op without a row is illegal.

    verify(sink, spec_kernel)       # raises SpecError, naming the node and what is wrong with it

**Values** (elementwise, at every level; `evaluate.py` is the definition in Python):

    ADD SUB MUL NEG             integers wrap around modulo 2**bits; on bool ADD is or, MUL is and
    IDIV MOD                    floor division of integers and its remainder: -7 // 2 = -4,
                                -7 % 2 = 1; by 0 both give 0 (they never trap)
    CDIV CMOD                   truncating division and its remainder, as in C: -7 / 2 = -3,
                                -7 % 2 = -1. The two kinds agree if nothing is negative, and only
                                then may a renderer write C's `/` for IDIV
    FDIV RECIP SQRT             exactly rounded, IEEE 754: 1/0 = inf, 0/0 = NaN, SQRT(-1) = NaN
    FMOD                        the remainder of truncating float division, with the sign of x;
                                exact, like C's fmod: FMOD(-5.5, 2) = -1.5, FMOD(x, inf) = x, and
                                NaN for an infinite x or y = 0
    EXP2 LOG2 SIN COS           within a few units of the last place; LOG2(0) = -inf, LOG2(-1) = NaN
    POW                         C's pow: x**0 = 1 even for NaN, (-8)**(1/3) = NaN
    MAX MIN                     NaN if either is NaN
    CMPLT CMPLE CMPNE CMPEQ     give bool; a comparison with NaN is false, CMPNE true. Of vectors
                                they may also give a mask: signed integers as wide as the operands,
                                -1 (all bits set) for true and 0 for false
    AND OR XOR                  bitwise; logical on bool. "not x" is `x != True`
    SHL SHR                     of integers; SHR keeps the sign. A count below 0, or of at least the
                                width, shifts all bits out, which leaves 0, or the sign (undefined
                                in C, so a decomposition keeps counts in range)
    TRUNC                       a float rounded towards 0, to a whole number
    CAST                        the nearest value of the other dtype; int to int wraps around, to
                                bool is `!= 0`. Float to int32 or int64 truncates; NaN and values
                                that do not fit give the smallest number. To uint32 it gives the
                                bits of that int32, except that x > 2**31 is converted as x - 2**31,
                                and 2**31 is added; uint64 likewise with 2**63. Narrower ints get
                                the low bits of an int32. (As x86's instructions and PyTorch do)
    BITCAST                     the same bits read as another dtype of the same size
    WHERE(c, x, y)              x where c is true, else y; both are computed. Of vectors c may be a
                                mask as wide as they are
    MULACC(x, y, z)             x * y + z, rounded once or twice
    THREEFRY(counter, key)      64 random bits

**Sizes** in the argument of a movement op or an INDEX are ints, or expressions of Variables (BIND,
DEFINE_VAR), simplified, so that equal sizes are the same object.

**Tensor level.** Every node has a shape; sources of an elementwise op have equal shapes.

    CONST                       one value of shape ()
    BUFFER(UNIQUE, DEVICE)      memory of `arg` elements, shape (arg,)
    IOTA                        0, 1, … arg-1: each element is its own index, shape (arg,)
    RESHAPE PERMUTE EXPAND PAD SHRINK FLIP WINDOW UNWINDOW
                                see movement.py; PAD and UNWINDOW give 0 where the source has
                                no element
    REDUCE_AXIS                 arg = (ADD | MUL | MAX, axes); those axes are kept with size 1
    SCAN_AXIS(x)                arg = (ADD | MUL | MAX, axis); each element is reduced from all
                                elements up to it along the axis. SCAN_AXIS(a, b) with MULACC is the
                                linear recurrence s[i] = s[i-1] * a[i] + b[i] of floats, from 0 on
    COPY(x, DEVICE)             x on another device
    CONTIGUOUS, FUSE, DETACH    x: stored row-major; computed with no intermediate value stored;
                                hidden from the gradient, which flows to a second source if there
                                is one
    TAKE(x, index)              x[…, index[…, k, …], …] along the axis `arg`, in the shape of
                                `index`, whose other axes are those of x; 0 out of range
    ASSIGN(target, value)       the memory of target after value was written to it; or, with a view
                                of it as a third source, to that. In a view that is a TAKE the
                                values are written in their order along its axis, out of range
                                nothing; with arg = ADD | MUL | MAX each is combined with what is
                                there by then
    FETCH(TAKE(x, index), v)    what each element of such a view is just before v is combined with
                                it by the op `arg`; the memory of x is used up
    BIND(DEFINE_VAR, CONST)     a Variable with its value for this run
    KERNEL                      a scheduled kernel; its sources are the memory it reads and writes

**Kernel level.** Scalars inside loops that are still abstract.

    RANGE(size)                 a loop variable over 0..size-1; its dtype is an int that can hold
                                its size; arg = (number, kind of axis). Only in the last block of a
                                long sum does the size depend on an outer loop. GLOBAL, LOCAL, GROUP
                                and WARP ranges run in parallel, as blocks and threads; SPECIALs
                                replace them before the program level
    DEFINE_VAR                  a Variable: arg = (name, smallest, largest value)
    INDEX(memory, valid, i, …)  the place of element [i, …] in memory of shape `arg`; it may be read
                                or written only where `valid` is true, which must imply that i, …
                                are inside the shape
    LOAD(INDEX, RANGE…)         the element; where `valid` is false it is 0, and nothing is read. It
                                is read anew in each turn of SERIAL ranges
    STORE(INDEX, value, RANGE…) writes the value for every combination of its ranges; nothing where
                                `valid` is false
    REDUCE(value, RANGE…)       the value, reduced with the op `arg` over all combinations of its
                                ranges; OR and AND come from decompositions
    SCAN(value, RANGE)          the value, reduced with the op `arg` over all iterations of a SERIAL
                                range up to this one; it does not close the range, and the range is
                                inside of all that the value depends on. SCAN(a, b, RANGE) with
                                MULACC as above. In a long sum two ranges or more, which count as
                                one; so does a last one that is lanes
    STAGE(value, RANGE…)        the values for all of its ranges, kept in memory `arg`, from which
                                INDEXes read; arg = (memory, n) if a loop keeps n of them in turns
                                (PIPELINE). LOCAL memory belongs to a thread, or on devices with
                                blocks of threads to a block: there no range of threads is around a
                                STAGE, and one that owns such a range has a value for each thread
    MMA(a, b, RANGE, RANGE…)    a matrix product of a tensor core (gpu/mma.py); arg = the form in
                                which it reads a and b. The first range selects one of the results
                                of the WARP's thread. The others, its own, run over a thread's rows
                                and a run of the sum
    FRAGMENT(INDEX)             a thread's elements of an MMA's operand, which the warp reads from a
                                panel as matrices of 8 × 8: each thread gives the INDEX of 8
                                elements, a row of one of them. arg = (elements of a thread, whether
                                rows are terms of the sum)
    SINK(STORE…)                the kernel. DEFINE_GLOBAL: its argument number `arg`

**Program level.** A flat list, each node after its sources. Values may be vectors.

    RANGE … ENDRANGE(RANGE)     a loop over 0..size-1; a THREAD range runs from the launch's start
                                to its stop
    INDEX(memory, valid, i)     one flat index; arg: the distance between a vector's lanes, or None
    LOAD, STORE                 of a dtype with n lanes: n elements from that index on, contiguous
                                unless the INDEX says otherwise
    CONST                       a number; a negative one of an unsigned dtype wraps around
    DEFINE_LOCAL, DEFINE_REG    scratch memory; an accumulator, always initialized by a STORE
    VECTORIZE(x, …), GEP(v)     scalars as a vector; lane `arg` of a vector
    SPECIAL                     an int, 0..size-1: the index of the block (gidx0, gidx1, gidx2) or
                                of the thread in its block (lidx0, …), arg = (name, size)
    MMA(a, b, c)                the four results of a thread, added to c if it is given; a and b are
                                this thread's share of the operands. All threads of the warp run it
                                together: 32 consecutive ones of the block, from a multiple of 32 on
    FRAGMENT(INDEX)             as above, for matrices of 16 bits; arg: whether they are transposed.
                                The warp runs it together
    ASYNC_COPY(INDEX, INDEX)    16 bytes on their way to a panel (the first place) from memory, or
                                zeros where the second INDEX is not valid. Until a WAIT of its
                                thread, nobody may read them there
    COMMIT                      the thread's copies since the last one are a group
    WAIT                        until all of the thread's groups but the last arg[1] have arrived
    BARRIER                     all threads of a block arrive before any goes on; arg distinguishes
                                barriers. None is in a loop that only some of the threads run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

from tinyframe.dtype import AddrSpace, DType, Invalid, PtrDType, dtypes
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import (
    BLOCKS,
    FIRST_RANGE,
    THREADS,
    AxisType,
    GroupOp,
    Ops,
    UOp,
    elements,
    index_dtype,
    loops_of_scan,
    resolve,
    sint,
    sources_first,
)


class SpecError(AssertionError):
    """A graph that is not legal at its level: a mistake in the compiler, not in the program."""


Check = Callable[[UOp], bool]


def row(ops: Ops | Iterable[Ops], *checks: Check) -> tuple[UPat, Callable[..., Any]]:
    """Nodes with one of `ops` are legal if all checks pass; each may rely on those before it."""
    return UPat(ops, name="u"), lambda u: all(check(u) for check in checks)


def sources(*ops: Ops) -> Check:
    """The sources are exactly these ops, in this order."""
    return lambda u: tuple(s.op for s in u.src) == ops


no_source = sources()


def may_name_device(u: UOp) -> bool:
    return no_source(u) or sources(Ops.DEVICE)(u)


def one_source(u: UOp) -> bool:
    return len(u.src) == 1


def same_dtypes(u: UOp) -> bool:
    return all(s.dtype is u.dtype for s in u.src)


def keeps_dtype(u: UOp) -> bool:
    return u.dtype is u.src[0].dtype


def arg_is(*kinds: type) -> Check:
    return lambda u: isinstance(u.arg, kinds)


def is_size(u: UOp) -> bool:
    return isinstance(u.arg, int) and u.arg >= 0


def is_index(u: UOp) -> bool:
    return dtypes.is_int(u.dtype) and u.dtype.count == 1


def points_to(space: AddrSpace) -> Check:
    return lambda u: isinstance(u.dtype, PtrDType) and u.dtype.addrspace is space


def closes_ranges(u: UOp) -> bool:
    """A REDUCE, STAGE or STORE owns RANGEs only, and each once."""
    ranges = u.own_ranges
    return all(r.op is Ops.RANGE for r in ranges) and len(set(ranges)) == len(ranges)


def constant_fits(u: UOp) -> bool:
    return u.dtype.count == 1 and (u.arg is Invalid or type(u.arg) is dtypes.python_type(u.dtype))


NUMBER_OF_SOURCES = {
    **dict.fromkeys(GroupOp.Unary, 1),
    **dict.fromkeys(GroupOp.Binary, 2),
    **dict.fromkeys(GroupOp.Ternary, 3),
}


def arithmetic(
    ops: Ops | Iterable[Ops], *families: Callable[[DType], bool]
) -> tuple[UPat, Callable[..., Any]]:
    """Ops whose operands and result have the same dtype, from one of the families."""
    return row(
        ops,
        lambda u: len(u.src) == NUMBER_OF_SOURCES[u.op],
        same_dtypes,
        lambda u: any(family(u.dtype) for family in families),
    )


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
    arithmetic((Ops.RECIP, Ops.SQRT, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.FDIV, Ops.FMOD),
               is_float),
    arithmetic((Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR), is_int),
    arithmetic((Ops.AND, Ops.OR, Ops.XOR), is_int, is_bool),
    arithmetic((Ops.TRUNC, Ops.POW, Ops.NEG, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.MULACC),
               is_int, is_float, is_bool),
    arithmetic(Ops.MIN, is_int, is_float),
    arithmetic(Ops.THREEFRY, lambda dtype: dtype.scalar() is dtypes.uint64),
    row(GroupOp.Comparison, compares),
    row(Ops.WHERE, selects),
    row(Ops.CAST, one_source, lambda u: u.dtype.count == u.src[0].dtype.count),
    row(Ops.BITCAST, one_source, lambda u: u.dtype.itemsize == u.src[0].dtype.itemsize),
    row(Ops.DEFINE_VAR, is_index, lambda u: isinstance(u.arg[0], str),
        lambda u: u.arg[1] <= u.arg[2]),
]


# fmt: on
spec_values = PatternMatcher(values)


# ---- tensor level -------------------------------------------------------------------------------


def equal(a: sint, b: sint) -> bool:
    """Whether two sizes, symbolic or not, can be equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    x, y = (s if isinstance(s, UOp) else UOp.const(index_dtype(s), s) for s in (a, b))
    return resolve(x.eq(y), default=True)


def equal_shapes(a: tuple, b: tuple) -> bool:
    return len(a) == len(b) and all(map(equal, a, b))


def shapes_agree(u: UOp) -> bool:
    return all(equal_shapes(s.shape, u.shape) for s in u.src)


def assigns(u: UOp) -> bool:
    """ASSIGN(target, value). In the scheduler's form the target is a third source, a view of the
    first, and the ASSIGN is the whole memory of the first."""
    target, value = u.src[2] if len(u.src) == 3 else u.src[0], u.src[1]
    if value.op is Ops.KERNEL:
        return u.dtype is target.dtype
    if u.arg is not None and (
        target.op is not Ops.TAKE or u.arg not in {*GroupOp.Reduce, Ops.STORE}
    ):
        return False
    return same_dtypes(u) and equal_shapes(target.shape, value.shape)


def takes(u: UOp) -> bool:
    x, index = u.src
    beside = [d for d in range(len(x.shape)) if d != u.arg]
    fits = len(index.shape) == len(x.shape) > len(beside) and is_int(index.dtype)
    return fits and all(equal(x.shape[d], index.shape[d]) for d in beside)


def movement(op: Ops, *checks: Check) -> tuple[UPat, Callable[..., Any]]:
    """A movement op or a reduce: one source of the same dtype, and an argument that fits it."""
    return row(op, one_source, same_dtypes, *checks)


def one_per_axis(u: UOp) -> bool:
    return len(u.arg) == len(u.src[0].shape)


def gives_sizes(u: UOp) -> bool:
    return all(resolve(size >= 0) for size in u.arg)


def rising(*sizes: sint) -> bool:
    """Whether each size can be at least as large as the one before."""
    return all(resolve(a <= b) for a, b in pairwise(sizes))


def stretches(u: UOp) -> bool:
    sizes = zip(u.src[0].shape, u.arg, strict=True)
    return all(equal(old, 1) or equal(old, new) for old, new in sizes)


def is_within(u: UOp) -> bool:
    sizes = zip(u.arg, u.src[0].shape, strict=True)
    return all(rising(0, begin, end, size) for (begin, end), size in sizes)


def window_fits(u: UOp) -> bool:
    axis, size, _, dilation = u.arg
    length = u.src[0].shape[axis]
    reach = dilation * (size - 1)  # beyond a window's first element
    return resolve(length >= 0 if size == 1 else reach < length)


def scans(u: UOp) -> bool:
    """A SCAN_AXIS: an op of one source, or a linear recurrence of floats, along one of its axes."""
    op, axis = u.arg
    fits = len(u.src) == 2 and is_float(u.dtype) if op is Ops.MULACC else one_source(u)
    return op in GroupOp.Scan and fits and axis in range(len(u.shape))


def reduces_axes(u: UOp) -> bool:
    axes = u.arg[1]
    return list(axes) == sorted({*axes} & {*range(len(u.src[0].shape))})


# fmt: off
spec_tensor = PatternMatcher([
    row(Ops.UNIQUE, no_source, arg_is(int)),
    row(Ops.DEVICE, no_source, arg_is(str, tuple)),
    row(Ops.IOTA, may_name_device, is_index, is_size),
    row(Ops.BUFFER, sources(Ops.UNIQUE, Ops.DEVICE), is_size),
    row(Ops.CONST, may_name_device, constant_fits),
    row(Ops.COPY, lambda u: len(u.src) == 2, lambda u: u.src[1].op is Ops.DEVICE, keeps_dtype),
    row((Ops.CONTIGUOUS, Ops.FUSE), one_source, same_dtypes),
    row(Ops.DETACH, lambda u: len(u.src) in (1, 2), same_dtypes, shapes_agree),
    row(Ops.ASSIGN, lambda u: len(u.src) in (2, 3), assigns),
    row(Ops.FETCH, same_dtypes, shapes_agree, lambda u: u.src[0].op is Ops.TAKE,
        lambda u: u.src[0].src[0].op is Ops.CONTIGUOUS and u.arg in GroupOp.Reduce),
    row(Ops.TAKE, lambda u: len(u.src) == 2, keeps_dtype, takes),
    row(Ops.BIND, sources(Ops.DEFINE_VAR, Ops.CONST), same_dtypes,
        lambda u: u.src[0].vmin <= u.src[1].arg <= u.src[0].vmax),
    row(Ops.KERNEL, lambda u: u.arg is not None),
    row(Ops.SINK, lambda u: u.dtype is dtypes.void),
    movement(Ops.RESHAPE, lambda u: equal(elements(u.src[0].shape), elements(u.arg)), gives_sizes),
    movement(Ops.PERMUTE, lambda u: sorted(u.arg) == list(range(len(u.src[0].shape)))),
    movement(Ops.EXPAND, one_per_axis, gives_sizes, stretches),
    movement(Ops.PAD, one_per_axis,
             lambda u: all(rising(0, before) and rising(0, after) for before, after in u.arg)),
    movement(Ops.SHRINK, one_per_axis, is_within),
    movement(Ops.FLIP, one_per_axis, lambda u: {*map(type, u.arg)} <= {bool}),
    movement(Ops.WINDOW, lambda u: u.arg[0] in range(len(u.src[0].shape)),
             lambda u: all(n > 0 for n in u.arg[1:]), window_fits),
    movement(Ops.UNWINDOW, lambda u: u.arg[0] in range(len(u.src[0].shape) - 1),
             lambda u: all(n > 0 for n in u.arg[1:3]), lambda u: resolve(u.arg[3] >= 0)),
    movement(Ops.REDUCE_AXIS, lambda u: u.arg[0] in GroupOp.Reduce, reduces_axes),
    row(Ops.SCAN_AXIS, same_dtypes, shapes_agree, scans),
    row(GroupOp.Elementwise, shapes_agree, lambda u: spec_values.rewrite(u) is True),
    *values,
])
# fmt: on


# ---- kernel level -------------------------------------------------------------------------------


def is_of_memory(u: UOp) -> bool:
    memory = u.src[0]
    return isinstance(memory.dtype, PtrDType) or memory.op is Ops.STAGE


def has_indices(u: UOp) -> bool:
    """INDEX(memory, valid, an expression per dimension), or a flat one if arg is not a shape."""
    _, _, *ix = u.src
    dimensions = len(u.arg) if isinstance(u.arg, tuple) else 1
    return len(ix) == dimensions and all(map(is_index, ix))


def counts(u: UOp) -> bool:
    """A RANGE has iterations, but no more than its dtype can count, or the loop would not end."""
    (size,) = u.src
    fits = size.op is not Ops.CONST or 0 < size.arg <= u.dtype.max
    return fits and size.vmax > 0


def of_an_index(u: UOp) -> bool:
    return u.src[0].op is Ops.INDEX


def stays_inside(u: UOp) -> bool:
    """A LOAD or STORE: where its condition holds, its indices are inside the shape. Either that can
    be proved, or no test case refutes it. A flat index is checked only if it has no condition and
    isn't one lane of a vector: then everything it reaches must be inside the memory."""
    (memory, valid, *ix), sizes = u.src[0].src, u.src[0].arg
    first = last = 0
    if not isinstance(sizes, tuple):
        assert isinstance(memory.dtype, PtrDType)
        lanes = (u if u.op is Ops.LOAD else u.src[1]).dtype.count // memory.dtype.base.count
        reach = (lanes - 1) * (sizes or 1)
        first, last, sizes = min(reach, 0), max(reach, 0), (memory.dtype.size,)
        valid = valid.const_like(valid.vmin and ix[0].op is not Ops.GEP)
    inside = valid.const_like(True)
    for i, size in zip(ix, sizes, strict=True):
        if not isinstance(size, int) or i.vmin + first < 0 or i.vmax + last >= size:
            inside = inside & (i + first >= 0) & (i + last < size)
    if inside.vmin or not valid.vmax or inside.simplify_given(valid).vmin:
        return True
    return all(evaluate(inside, case) for case in tries(valid, inside) if evaluate(valid, case))


def tries(*conditions: UOp) -> Iterator[dict[UOp, int]]:
    """Test cases: random values for the loops, Variables and data in the conditions, at the ends of
    their bounds, around the constants in the conditions, and anywhere in between."""
    found = sources_first(conditions, lambda x: x.src if x.op is Ops.RANGE or computes(x) else ())
    constants = [x.arg for x in found if x.op is Ops.CONST]
    rng = Random(0)
    for _ in range(TRIES):
        case: dict[UOp, int] = {}
        for x in found:
            if x.op is Ops.CONST or computes(x):
                continue
            low, high = x.bounds
            high = high if x.op is not Ops.RANGE else evaluate(x.src[0], case) - 1
            if high < low:
                break  # a loop that does not run
            near = rng.choice(constants) + rng.randint(-1, 1)
            value = rng.choice([low, high, rng.randint(low, high), min(max(near, low), high)])
            case[x] = bool(value) if x.dtype is dtypes.bool else value
        else:
            yield case


TRIES = 60


def computes(x: UOp) -> bool:
    """An elementwise op on integers or booleans."""
    return x.op in GroupOp.Elementwise and not any(dtypes.is_float(s.dtype) for s in x.src)


def value_fits(u: UOp) -> bool:
    """A STORE's value has the dtype of the memory, or is a vector of it."""
    return u.src[1].dtype.scalar() is u.src[0].dtype.base.scalar()


def reads_matrices(u: UOp) -> bool:
    """A FRAGMENT reads elements of 16 bits from a panel, on one condition: none."""
    memory, valid, *_ = u.src[0].src
    is_panel = memory.op in (Ops.STAGE, Ops.DEFINE_LOCAL)
    return is_panel and u.dtype.scalar().itemsize == 2 and valid.op is Ops.CONST and valid.arg


def copies_to_a_panel(u: UOp) -> bool:
    """An ASYNC_COPY goes from an argument to a panel of the same dtype."""
    place, source = (index.src[0] for index in u.src)
    is_copy = place.op is Ops.DEFINE_LOCAL and source.op is Ops.DEFINE_GLOBAL
    return is_copy and place.dtype.base is source.dtype.base


# dtype of the operands -> the form in which a tensor core reads them: PTX's name, an MMA's arg
MMA_FORMS = {dtypes.half: "f16", dtypes.bfloat16: "bf16", dtypes.float: "tf32"}


def multiplies(u: UOp) -> bool:
    """An MMA takes operands in a form that a tensor core reads, and gives float32."""
    a, b = (s.dtype.scalar() for s in u.src[:2])
    return u.dtype.scalar() is dtypes.float and a is b and u.arg in MMA_FORMS.values()


# names of the block and thread indices, by axis
PLACES = {f"{letter}idx{n}" for letter in "gl" for n in range(3)}

load_checks = (of_an_index, lambda u: u.dtype.scalar() is u.src[0].dtype.base.scalar())
index_checks = (is_of_memory, lambda u: u.src[1].dtype is dtypes.bool, has_indices)
range_checks = (is_index, one_source, keeps_dtype, lambda u: isinstance(u.arg[1], AxisType), counts)
store_checks = (of_an_index, value_fits, closes_ranges)

# fmt: off
memory_rows = [
    row(Ops.CONST, no_source, constant_fits),
    row(Ops.DEFINE_GLOBAL, no_source, points_to(AddrSpace.GLOBAL), arg_is(int)),
    row(Ops.DEFINE_LOCAL, no_source, points_to(AddrSpace.LOCAL)),
    row(Ops.DEFINE_REG, no_source, points_to(AddrSpace.REG)),
    row(Ops.SPECIAL, no_source, lambda u: u.dtype is dtypes.int, lambda u: u.arg[0] in PLACES),
    row(Ops.RANGE, *range_checks),
    row(Ops.INDEX, *index_checks),
    row(Ops.LOAD, *load_checks),
    row(Ops.VECTORIZE, lambda u: len(u.src) == u.dtype.count > 1,
        lambda u: all(s.dtype is u.dtype.scalar() for s in u.src)),
    row(Ops.GEP, lambda u: u.dtype is u.src[0].dtype.scalar(),
        lambda u: 0 <= u.arg < u.src[0].dtype.count),
]

spec_kernel = PatternMatcher([
    row(Ops.SINK, lambda u: {s.op for s in u.src} <= {Ops.STORE, Ops.SINK}, lambda u: not u.ranges),
    row(Ops.STORE, *store_checks, stays_inside),
    row(Ops.LOAD, *load_checks, stays_inside),
    row(Ops.REDUCE, lambda u: u.arg in {*GroupOp.Reduce, Ops.OR, Ops.AND}, keeps_dtype,
        closes_ranges),
    row(Ops.SCAN, lambda u: u.arg in {*GroupOp.Scan, Ops.OR, Ops.AND}, keeps_dtype,
        lambda u: all(r.op is Ops.RANGE for r in loops_of_scan(u)),
        lambda u: loops_of_scan(u)[0].arg[1] is AxisType.SERIAL),
    row(Ops.STAGE, arg_is(AddrSpace, tuple), closes_ranges,
        lambda u: all(r.arg[1] not in THREADS for r in u.ranges)),
    row(Ops.MMA, multiplies, closes_ranges),
    row(Ops.FRAGMENT, of_an_index, reads_matrices),
    *memory_rows,
    *values,
])


# ---- program level ------------------------------------------------------------------------------


spec_program = PatternMatcher([
    row(Ops.STORE, lambda u: len(u.src) == FIRST_RANGE[Ops.STORE], *store_checks),
    row(Ops.INDEX, lambda u: not isinstance(u.arg, tuple), *index_checks),
    row(Ops.ENDRANGE, sources(Ops.RANGE)),
    row(Ops.RANGE, *range_checks, lambda u: u.arg[1] not in BLOCKS),
    row(Ops.MMA, multiplies, lambda u: not u.own_ranges),
    row(Ops.FRAGMENT, of_an_index, reads_matrices, lambda u: u.dtype.count in (4, 8)),
    row(Ops.ASYNC_COPY, sources(Ops.INDEX, Ops.INDEX), copies_to_a_panel),
    row((Ops.COMMIT, Ops.WAIT), no_source, lambda u: u.dtype is dtypes.void),
    row(Ops.BARRIER, no_source, lambda u: u.dtype is dtypes.void),
    *memory_rows,
    *values,
])

# fmt: on
LEVELS = {id(spec_tensor): "tensor", id(spec_kernel): "kernel", id(spec_program): "program"}


def verify(graph: UOp | list[UOp], spec: PatternMatcher) -> None:
    """Raises SpecError at the first node (sources first) that `spec` does not allow; for a flat
    program also if a node comes before its sources, or a loop is not closed."""
    level = LEVELS[id(spec)]
    # Nodes are immutable: once legal, a node stays legal, and so does everything below it.
    known = f"_legal_{level}"
    if isinstance(graph, UOp):
        nodes: Iterable[UOp] = graph.toposort(gate=lambda u: known not in u.__dict__)
    else:
        nodes = graph
    for u in nodes:
        if known in u.__dict__:
            continue
        try:
            legal = spec.rewrite(u)
        except (IndexError, TypeError, ValueError, AttributeError) as error:  # not even its form
            raise _error(u, level, f"is malformed ({error})") from error
        if not legal:
            raise _error(u, level, "is not legal there" if legal is None else "breaks its rule")
        u.__dict__[known] = True
    if not isinstance(graph, UOp):
        _verify_order(graph)


def _error(u: UOp, level: str, what: str) -> SpecError:
    node = f"{u.op} {u.dtype} arg={u.arg!r}"
    sources = [f"\n  source {n}: {s.op} {s.dtype} {s.arg!r}" for n, s in enumerate(u.src)]
    return SpecError(f"{node}, at the {level} level, {what}; see spec.py{''.join(sources)}")


def _verify_order(program: list[UOp]) -> None:
    seen: set[UOp] = set()
    open_loops: list[UOp] = []
    for u in program:
        if missing := [s for s in u.src if s not in seen]:
            raise _error(u, "program", f"comes before its source {missing[0].op}")
        if u in seen:
            raise _error(u, "program", "is there twice")
        seen.add(u)
        if u.op is Ops.ENDRANGE:
            if not open_loops or open_loops.pop() is not u.src[0]:
                raise _error(u, "program", "does not close the innermost open loop")
        elif outside := [r for r in u.ranges if r is not u and r not in open_loops]:
            what = f"is outside the loop {outside[0].arg} that it depends on"
            raise _error(u, "program", what)
        elif u.op is Ops.RANGE:
            open_loops.append(u)
    if open_loops:
        raise _error(open_loops[-1], "program", "is never closed")
