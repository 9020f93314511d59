"""The one node type. A tensor expression, a kernel and a machine-level program are all graphs of
UOps.

A UOp is immutable and *hash-consed*: building the same node twice gives the same object, so
equality is identity, common sub-expressions are shared for free, and any result computed from a
node can be kept on it. `a + b` is nothing but `UOp(Ops.ADD, a.dtype, (a, b))`.

    >>> x = UOp.variable("x", 0, 9)
    >>> (x * 2 + 1) is (x * 2 + 1)
    True
    >>> (x * 2 + 1).vmax
    19

What each op means, and at which of the three levels it may stand, is written in `spec.py`.
"""

from __future__ import annotations

import enum
import gc
import itertools
import math
import operator
import os
import struct
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from tinyframe.dtype import AddrSpace, ConstType, DType, Invalid, PtrDType, dtypes
from tinyframe.errors import BindError, ShapeError
from tinyframe.observe import tell_became


# fmt: off
class Ops(enum.IntEnum):
    """Every operation. Elementwise ones are what a backend must be able to do; the rest is
    structure."""

    # -- tensor level: what the user asked for
    UNIQUE = enum.auto(); DEVICE = enum.auto(); BUFFER = enum.auto(); CONST = enum.auto()
    IOTA = enum.auto(); COPY = enum.auto(); CONTIGUOUS = enum.auto(); ASSIGN = enum.auto()
    DETACH = enum.auto(); DEFINE_VAR = enum.auto(); BIND = enum.auto(); KERNEL = enum.auto()
    RESHAPE = enum.auto(); PERMUTE = enum.auto(); EXPAND = enum.auto(); PAD = enum.auto()
    SHRINK = enum.auto(); FLIP = enum.auto(); WINDOW = enum.auto(); UNWINDOW = enum.auto()
    REDUCE_AXIS = enum.auto(); FUSE = enum.auto()
    # -- kernel level: one loop nest, loops still abstract
    SINK = enum.auto(); STORE = enum.auto(); LOAD = enum.auto(); INDEX = enum.auto()
    RANGE = enum.auto(); REDUCE = enum.auto(); STAGE = enum.auto()
    DEFINE_GLOBAL = enum.auto(); DEFINE_LOCAL = enum.auto(); DEFINE_REG = enum.auto()
    # -- program level: a flat list, loops explicit
    ENDRANGE = enum.auto(); SPECIAL = enum.auto(); VECTORIZE = enum.auto(); GEP = enum.auto()
    BARRIER = enum.auto(); NOOP = enum.auto()
    # -- elementwise: unary
    NEG = enum.auto(); RECIP = enum.auto(); SQRT = enum.auto(); EXP2 = enum.auto()
    LOG2 = enum.auto(); SIN = enum.auto(); TRUNC = enum.auto(); CAST = enum.auto()
    BITCAST = enum.auto()
    # -- elementwise: binary (IDIV and MOD are floor division; CDIV and CMOD truncate, as C does)
    ADD = enum.auto(); SUB = enum.auto(); MUL = enum.auto(); FDIV = enum.auto()
    IDIV = enum.auto(); MOD = enum.auto(); CDIV = enum.auto(); CMOD = enum.auto()
    MAX = enum.auto(); CMPLT = enum.auto(); CMPNE = enum.auto(); CMPEQ = enum.auto()
    AND = enum.auto(); OR = enum.auto(); XOR = enum.auto(); SHL = enum.auto(); SHR = enum.auto()
    POW = enum.auto(); THREEFRY = enum.auto()
    # -- elementwise: ternary
    WHERE = enum.auto(); MULACC = enum.auto()
    # -- elementwise: the rest of a division of floats (binary), the cosine (unary)
    FMOD = enum.auto(); COS = enum.auto()
    # -- elementwise: only in programs, where a language says them shorter
    MIN = enum.auto(); CMPLE = enum.auto()
    # -- kernel and program: what the threads of a warp compute together
    MMA = enum.auto()

    # the field's other names for the same operations
    RECIPROCAL = RECIP
    FLOORDIV = IDIV
    FLOORMOD = MOD
    PARAM = DEFINE_VAR

    def __repr__(self) -> str:
        return f"<Ops.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"Ops.{self.name}"

    def __format__(self, format_spec: str) -> str:
        return format(str(self), format_spec)


class GroupOp:
    """Sets of ops that rules speak of."""

    Unary = {Ops.NEG, Ops.RECIP, Ops.SQRT, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.TRUNC}
    Comparison = {Ops.CMPLT, Ops.CMPLE, Ops.CMPNE, Ops.CMPEQ}
    Binary = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD, Ops.MAX,
              Ops.FMOD, Ops.MIN, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.POW,
              Ops.THREEFRY, *Comparison}
    Ternary = {Ops.WHERE, Ops.MULACC}
    ALU = Unary | Binary | Ternary
    Elementwise = ALU | {Ops.CAST, Ops.BITCAST}
    Commutative = {Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPNE, Ops.CMPEQ, Ops.AND, Ops.OR, Ops.XOR}
    Associative = {Ops.ADD, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR, Ops.MAX}
    Idempotent = {Ops.AND, Ops.OR, Ops.MAX}
    Reduce = {Ops.ADD, Ops.MUL, Ops.MAX}
    Movement = {Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP, Ops.WINDOW,
                Ops.UNWINDOW}
    Defines = {Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG}
    All = set(Ops)


# fmt: on
class AxisType(enum.Enum):
    """What becomes of a RANGE; the letter is used in kernel names, the colour when they are
    shown."""

    LOOP = "L", "white"
    REDUCE = "R", "red"
    UPCAST = "u", "yellow"
    VECTOR = "v", "yellow"
    UNROLL = "r", "magenta"
    THREAD = "t", "cyan"
    GLOBAL = "g", "blue"
    LOCAL = "l", "cyan"
    GROUP = "G", "green"
    WARP = "w", "cyan"

    def __init__(self, letter: str, color: str):
        self.letter, self.color = letter, color

    def __repr__(self) -> str:
        return f"AxisType.{self.name}"

    __hash__ = object.__hash__


# Where the tensor level begins: these, constants on a device, and all that is made of them, know
# who uses them.
_TRACKED = {Ops.BUFFER, Ops.IOTA, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN, Ops.DETACH, Ops.REDUCE_AXIS,
            Ops.FUSE, *GroupOp.Movement}  # fmt: skip

# These close loops: their sources from this position on are the ranges they own
FIRST_RANGE = {Ops.REDUCE: 1, Ops.STAGE: 1, Ops.STORE: 2, Ops.MMA: 3}

# cat() of more parts than this is one of groups: an element of the first of n parts lies below n
# choices, so gradients of all parts go through n * n / 2, and in groups of 16 through n * 32 or so.
JOINED_AT_ONCE = 16


_JUST_INT = {int}


def sources_first(
    roots: Iterable[UOp],
    sources_of: Callable[[UOp], tuple[UOp, ...]] = operator.attrgetter("src"),
    known: Iterable[UOp] = (),
) -> dict[UOp, None]:
    """Some nodes and all below them, sources before what is made of them, each once.

    sources_of: what lies below a node. known: nodes that are left out, with what is below them.
    """
    order: dict[UOp, None] = {}
    seen = set(known)
    stack: list[UOp | None] = list(roots)
    stack.reverse()
    while stack:
        u = stack.pop()
        if u is None:  # what is above it on the stack is done
            order[stack.pop()] = None  # type: ignore[index]
        elif u not in seen:
            seen.add(u)
            if below := sources_of(u):
                stack += (u, None, *below[::-1])
            else:
                order[u] = None
    return order


def arg_key(arg: Any) -> Any:
    """A key that tells 1, 1.0 and True apart, and 0.0 from -0.0, while NaN equals itself."""
    kind = type(arg)
    if kind is int:
        return arg
    if kind is float:
        return struct.pack("d", arg)
    if kind is tuple:
        return arg if set(map(type, arg)) == _JUST_INT else tuple(map(arg_key, arg))
    return kind, arg


class recursive_property:
    """A property defined, per op, from the same property of the sources.

    `@UOp.shape.rule(Ops.RESHAPE)` adds a row. The values are kept on the nodes, and are filled in
    from the leaves up with an explicit stack, so a chain of 100,000 nodes is no problem.
    """

    def __init__(self, default: Callable[[UOp], Any]):
        self.default, self.name = default, default.__name__
        self.rules: dict[Ops, Callable[[UOp], Any]] = {}
        self.__doc__ = default.__doc__

    def rule(self, *ops: Ops):
        def add(fn: Callable[[UOp], Any]):
            self.rules.update(dict.fromkeys(ops, fn))
            return fn

        return add

    def __get__(self, node: UOp | None, owner: type) -> Any:
        return self if node is None else self.of(node)

    def of(self, node: UOp) -> Any:
        """The value for a node: found on it, or filled in."""
        name, rules = self.name, self.rules
        if name in node.__dict__:
            return node.__dict__[name]
        stack = [node]
        while stack:
            u = stack[-1]
            for s in u.src:
                if name not in s.__dict__:
                    stack.append(s)
            if stack[-1] is u:
                found = u.__dict__[name] = rules.get(u.op, self.default)(u)
                stack.pop()
        return found


P = ParamSpec("P")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


class provided(Generic[P, Result]):
    """A method of UOp that a module further up provides: `@UOp.simplify.by` stands there. So this
    file imports none of them; `tinyframe/__init__.py` imports all."""

    def __init__(self, declared: Callable[Concatenate[UOp, P], Result]) -> None:
        self.function, self.__doc__ = declared, declared.__doc__

    def by(self, function: Function) -> Function:
        self.function = function
        return function

    @overload
    def __get__(self, node: None, owner: type) -> Self: ...
    @overload
    def __get__(self, node: UOp, owner: type) -> Callable[P, Result]: ...
    def __get__(self, node: UOp | None, owner: type) -> Any:
        return self if node is None else MethodType(self.function, node)

    def __call__(self, node: UOp, *args: P.args, **kwargs: P.kwargs) -> Result:
        return self.function(node, *args, **kwargs)


class _Entry(weakref.ref):
    """The table's hold on a node: weak, and it knows its key when the node has gone."""

    __slots__ = ("key",)
    key: tuple


_nodes: dict[tuple, _Entry] = {}
_lock = threading.RLock()  # held while something is taken out of the table, or a list of users
os.register_at_fork(  # not in the middle of that
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


def append_weak(refs: list[weakref.ref], ref: weakref.ref) -> None:
    """Adds to a list of weak references; now and then those that have gone are taken out."""
    refs.append(ref)
    if (count := len(refs)) > 16 and not count & (count - 1):
        drop_dead(refs)


def drop_dead(refs: list[weakref.ref]) -> None:
    """Takes those that have gone out of a list, to which other threads may append meanwhile."""
    with _lock:
        count = len(refs)
        refs[:count] = [ref for ref in refs[:count] if ref() is not None]


def remove_weak(refs: list[weakref.ref], ref: weakref.ref) -> None:
    with _lock:
        refs.remove(ref)


# By default arguments, since nodes go even when Python ends and module names are gone.
def _forget(entry: _Entry, nodes: dict = _nodes, lock: Any = _lock) -> None:
    key = entry.key
    with lock:  # acquire() and try: an alarm that rings between them would leave it held
        if nodes.get(key) is entry:
            del nodes[key]
    entry.key = ()  # it holds the sources, and these may still list the entry among their users


class Operators:
    """Python's operators on two values, each a call of `_binary(op, other, reverse)`: those of UOp,
    of its pattern UPat, and of Tensor."""

    __slots__ = ()

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has to define _binary(op, other, reverse)"
        )

    # fmt: off
    def __add__(self, other): return self._binary(Ops.ADD, other)
    def __radd__(self, other): return self._binary(Ops.ADD, other, True)
    def __mul__(self, other): return self._binary(Ops.MUL, other)
    def __rmul__(self, other): return self._binary(Ops.MUL, other, True)
    def __truediv__(self, other): return self._binary(Ops.FDIV, other)
    def __rtruediv__(self, other): return self._binary(Ops.FDIV, other, True)
    def __floordiv__(self, other): return self._binary(Ops.IDIV, other)
    def __rfloordiv__(self, other): return self._binary(Ops.IDIV, other, True)
    def __mod__(self, other): return self._binary(Ops.MOD, other)
    def __rmod__(self, other): return self._binary(Ops.MOD, other, True)
    def __pow__(self, other): return self._binary(Ops.POW, other)
    def __rpow__(self, other): return self._binary(Ops.POW, other, True)
    def __and__(self, other): return self._binary(Ops.AND, other)
    def __rand__(self, other): return self._binary(Ops.AND, other, True)
    def __or__(self, other): return self._binary(Ops.OR, other)
    def __ror__(self, other): return self._binary(Ops.OR, other, True)
    def __xor__(self, other): return self._binary(Ops.XOR, other)
    def __rxor__(self, other): return self._binary(Ops.XOR, other, True)
    def __lshift__(self, other): return self._binary(Ops.SHL, other)
    def __rlshift__(self, other): return self._binary(Ops.SHL, other, True)
    def __rshift__(self, other): return self._binary(Ops.SHR, other)
    def __rrshift__(self, other): return self._binary(Ops.SHR, other, True)
    # fmt: on


class Comparisons(Operators):
    """And comparisons, of which there are three ops; with what follows from them."""

    __slots__ = ()

    # fmt: off
    def __lt__(self, other): return self._binary(Ops.CMPLT, other)
    def __gt__(self, other): return self._binary(Ops.CMPLT, other, True)
    def __le__(self, other): return (self > other).ne(True)
    def __ge__(self, other): return (self < other).ne(True)
    def ne(self, other): return self._binary(Ops.CMPNE, other)
    def eq(self, other): return self._binary(Ops.CMPEQ, other)
    def maximum(self, other): return self._binary(Ops.MAX, other)
    # fmt: on


class UOp(Comparisons):
    """One operation: `op` on the values of `src`, giving a `dtype`; `arg` is what else it needs to
    know.

    `tag` sets apart nodes that are otherwise the same. Raises AttributeError on any change.
    """

    op: Ops
    dtype: DType
    src: tuple[UOp, ...]
    arg: Any
    tag: Any
    _table = _nodes
    _unique = itertools.count()

    def __new__(
        cls,
        op: Ops,
        dtype: DType = dtypes.void,
        src: tuple[UOp, ...] = (),
        arg: Any = None,
        tag: Any = None,
    ) -> UOp:
        key = (
            op,
            dtype,
            src,
            arg if arg is None else arg_key(arg),
            tag if tag is None else arg_key(tag),
        )
        table = cls._table
        if (entry := table.get(key)) is not None and (node := entry()) is not None:
            return node
        node = object.__new__(cls)
        fields = node.__dict__
        fields["op"], fields["dtype"], fields["src"] = op, dtype, src
        fields["arg"], fields["tag"] = arg, tag
        entry = _Entry(node, _forget)
        entry.key = key
        # Before others can find it, or what they build on it would not be known above its sources.
        is_tracked = op in _TRACKED or (op is Ops.CONST and bool(src))
        for s in src:
            if (users := s.__dict__.get("_users")) is not None:
                is_tracked = True
                append_weak(users, entry)
        if is_tracked:
            fields["_users"] = []  # the entries of those that use it
        while (known := table.setdefault(key, entry)) is not entry:  # another thread was quicker
            if (other := known()) is not None:
                return other
            _forget(known)
        return node

    def __setattr__(self, name: str, value: Any):
        raise AttributeError(f"a UOp is immutable: use .replace({name}=...) to get a changed copy")

    # Nodes do not change, so a copy is the node itself.
    def __copy__(self) -> UOp:
        return self

    def __deepcopy__(self, memo: dict) -> UOp:
        return self

    def __reduce__(self):
        # As a list, sources first: a graph may be deeper than Python's stack.
        order = list(self.toposort())
        if any(u.op is Ops.UNIQUE and u.arg >= 0 for u in order):
            raise TypeError(
                "a graph on memory cannot be pickled: its BUFFERs are names that mean something in "
                "this process only. Pickle the Tensor, which holds the values"
            )
        number = {u: n for n, u in enumerate(order)}
        rows = [(u.op, u.dtype, tuple([number[s] for s in u.src]), u.arg, u.tag) for u in order]
        return _from_rows, (rows,)

    def __repr__(self) -> str:
        return self.pretty()

    @provided
    def pretty(self) -> str:
        """The graph as nested UOp(…); see show.py."""
        raise NotImplementedError

    __hash__ = object.__hash__

    # ---- the graph ----------------------------------------------------------------------------

    def replace(self, **changes: Any) -> UOp:
        """A copy with some of op, dtype, src, arg and tag changed."""
        if unknown := changes.keys() - {"op", "dtype", "src", "arg", "tag"}:
            raise TypeError(f"a UOp has no field {', '.join(sorted(unknown))}")
        fields = {
            name: changes.get(name, getattr(self, name))
            for name in ("op", "dtype", "src", "arg", "tag")
        }
        return UOp(**fields)

    def rtag(self, tag: Any = True) -> UOp:
        return self.replace(tag=tag)

    def toposort(self, gate: Callable[[UOp], bool] | None = None) -> dict[UOp, None]:
        """This node and all below it, sources first, each once; a node refused by `gate` is the
        last of its branch."""
        if gate is not None:
            return sources_first((self,), lambda u: u.src if gate(u) else ())
        if self.op is not Ops.SINK:
            return sources_first((self,))
        # a kernel is walked again and again while it is compiled
        if (below := self.__dict__.get("_below")) is None:
            # without the node itself, or it would keep itself alive
            below = self.__dict__["_below"] = tuple(sources_first(self.src))
        return dict.fromkeys((*below, self))

    @provided
    def substitute(self, mapping: dict[UOp, UOp], name: str | None = None, extra_pm=None) -> UOp:
        """Every node of `mapping` replaced, Variables in sizes too; what is inside a replacement is
        left as it is. See rewrite/matcher.py."""
        raise NotImplementedError

    @provided
    def simplify(self) -> UOp:
        """The same value with the exact rules of algebra/symbolic.py applied to a fixed point."""
        raise NotImplementedError

    @provided
    def simplify_given(self, condition: UOp) -> UOp:
        """A value that equals this one wherever `condition` holds; see algebra/symbolic.py."""
        raise NotImplementedError

    def ssimplify(self) -> UOp | ConstType:
        """simplify(), and a Python number where a constant is left."""
        out = self.simplify()
        return out.arg if out.op is Ops.CONST else out

    def render(self, simplify: bool = True) -> str:
        """An index expression as text, such as `(i*4+j)`."""
        return (self.simplify() if simplify else self)._expression()

    @provided
    def _expression(self) -> str:
        """See `render` in show.py."""
        raise NotImplementedError

    def sink(*sources: UOp, arg: Any = None) -> UOp:
        return UOp(Ops.SINK, dtypes.void, sources, arg)

    def users(self) -> list[UOp]:
        """The live nodes of which this is a source. Known at the tensor level: of memory, of what
        only stands there (movement, reduces, CONTIGUOUS, …), and of all that is built on those."""
        entries = tuple(self.__dict__.get("_users", ()))
        return [user for entry in entries if (user := entry()) is not None]

    # ---- what is known of a value: each a table of rules per op ---------------------------------

    @recursive_property
    def shape(self) -> tuple:
        """Sizes, slowest axis first; () for everything below the tensor level. Rules in
        movement.py."""
        return ()

    @recursive_property
    def device(self) -> str | tuple[str, ...] | None:
        """Where the value lives, from the first source that says so; None for a bare constant."""
        return next((d for s in self.src if (d := s.device) is not None), None)

    @recursive_property
    def bounds(self) -> tuple[ConstType, ConstType]:
        """(smallest, largest) value that a scalar can have. Rules in bounds.py."""
        return dtypes.min(self.dtype), dtypes.max(self.dtype)

    @recursive_property
    def ranges(self) -> frozenset[UOp]:
        """The RANGEs that this value changes with. REDUCE, STAGE and STORE close those they own."""
        return _union([s.ranges for s in self.src])

    @recursive_property
    def unknowns(self) -> frozenset[UOp]:
        """The Variables that this depends on, those in sizes included: BINDs, and DEFINE_VARs that
        have no value."""
        return _union([s.unknowns for s in (*self.src, *sizes_in(self.arg))])

    @property
    def vmin(self) -> Any:
        return self.bounds[0]

    @property
    def vmax(self) -> Any:
        return self.bounds[1]

    @property
    def size(self) -> int:
        """Number of elements (symbolic sizes at their largest)."""
        return math.prod(map(upper, self.shape))

    @property
    def st(self):
        """Shape, strides, offset and mask of a chain of movement ops on one buffer; see
        algebra/view.py."""
        return self._shape_tracker()

    @provided
    def _shape_tracker(self) -> Any:
        raise NotImplementedError

    @property
    def base(self) -> UOp:
        """What lies below the movement ops."""
        u = self
        while u.op in GroupOp.Movement:
            u = u.src[0]
        return u

    @property
    def own_ranges(self) -> tuple[UOp, ...]:
        """The RANGEs that a REDUCE, STAGE or STORE closes."""
        return self.src[FIRST_RANGE[self.op] :]

    def variables(self) -> list[UOp]:
        """The DEFINE_VARs that this depends on, by name; those in shapes included."""
        found = {v.src[0] if v.op is Ops.BIND else v for v in self.unknowns}
        return sorted(found, key=lambda v: v.arg)

    vars = variables

    # ---- leaves ---------------------------------------------------------------------------------

    @staticmethod
    def const(dtype: DType, value: ConstType | tuple) -> UOp:
        """A constant, converted to `dtype`; a vector dtype gives a VECTORIZE of constants."""
        scalar = dtype.scalar()
        if dtype.count > 1:
            values = value if isinstance(value, tuple) else (value,) * dtype.count
            return UOp(Ops.VECTORIZE, dtype, tuple(UOp.const(scalar, v) for v in values))
        return UOp(Ops.CONST, scalar, (), dtypes.as_const(value, scalar))

    def const_like(self, value: ConstType | UOp) -> UOp:
        """`value` as a constant of this dtype and shape."""
        if isinstance(value, UOp):
            return value
        return UOp.const(self.dtype.base, value).broadcast_to(self.shape)

    def broadcast_to(self, shape: tuple) -> UOp:
        """Size-1 axes expanded and missing leading ones added."""
        if self.shape == shape:
            return self
        ones = (1,) * (len(shape) - len(self.shape)) + self.shape
        return self.reshape(ones).expand(shape)

    @staticmethod
    def variable(name: str, min_val: int, max_val: int, dtype: DType | None = None) -> UOp:
        """A named integer in [min_val, max_val], given its value by bind(): an int32, or an int64
        where that is too small."""
        dtype = dtype or index_dtype(max(max_val, -1 - min_val))
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"{name!r} cannot name a Variable: ASCII letters, digits and _ can")
        if min_val > max_val:
            raise ValueError(
                f"Variable {name!r}: the minimum {min_val} is above the maximum {max_val}"
            )
        return UOp(Ops.DEFINE_VAR, dtype, (), (name, min_val, max_val))

    def bind(self, value: int) -> UOp:
        """The Variable with a value for what is computed next; BindError if it cannot have that."""
        if self.op is not Ops.DEFINE_VAR:
            raise BindError(f"only a Variable can be bound, not {self.op}")
        name, low, high = self.arg
        value = operator.index(value)
        if not low <= value <= high:
            raise BindError(f"cannot bind {name!r} to {value}: it must be in [{low}, {high}]")
        return UOp(Ops.BIND, self.dtype, (self, UOp.const(self.dtype, value)))

    def unbind(self) -> tuple[UOp, int]:
        if self.op is not Ops.BIND:
            raise BindError(f"{self.op} is not bound to a value")
        return self.src[0], self.src[1].arg

    @property
    def val(self) -> int:
        return self.unbind()[1]

    @property
    def expr(self) -> str:
        """The name of a Variable."""
        return (self.src[0] if self.op is Ops.BIND else self).arg[0]

    @staticmethod
    def unique() -> UOp:
        return UOp(Ops.UNIQUE, arg=next(UOp._unique))

    @staticmethod
    def new_buffer(device: str, size: int, dtype: DType) -> UOp:
        """A name for memory that holds `size` elements on `device`; device.py keeps the memory
        itself."""
        return UOp(Ops.BUFFER, dtype, (UOp.unique(), UOp(Ops.DEVICE, arg=device)), size)

    @staticmethod
    def range(size: int | UOp, axis: int, kind: AxisType = AxisType.LOOP) -> UOp:
        """A loop variable that runs over 0 … size-1; `axis` tells it from other ranges."""
        end = size if isinstance(size, UOp) else UOp.const(index_dtype(size), size)
        return UOp(Ops.RANGE, end.dtype, (end,), (axis, kind))

    @staticmethod
    def special(name: str, size: sint) -> UOp:
        """The number of a block (gidx0, gidx1, gidx2) or of a thread in its block (lidx0, …) along
        an axis: 0 … size-1."""
        return UOp(Ops.SPECIAL, dtypes.int, (), (name, size))

    @staticmethod
    def invalid() -> UOp:
        return UOp(Ops.CONST, dtypes.int, (), Invalid)

    def valid(self, condition: UOp | bool) -> UOp:
        """This index where the condition holds, and one that must not be read elsewhere."""
        return self if condition is True else self.ufix(condition).where(self, UOp.invalid())

    # ---- elementwise ----------------------------------------------------------------------------

    def alu(self, op: Ops, *others: UOp) -> UOp:
        """`op` on this and the others; comparisons give bool, the rest the dtype of the last
        source."""
        src = (self, *others)
        dtype = src[-1].dtype
        if op in GroupOp.Comparison:
            dtype = dtypes.bool.vec(dtype.count)
        return UOp(op, dtype, src)

    def ufix(self, value: Any) -> UOp:
        """A Python number as a constant beside this value."""
        if isinstance(value, UOp):
            return value
        if isinstance(value, float) and not dtypes.is_float(self.dtype):
            return UOp.const(dtypes.default_float, value).broadcast_to(self.shape)
        return self.const_like(value)

    def _is_bool(self) -> bool:
        return self.dtype.scalar() is dtypes.bool

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> UOp:
        if _is_array(other):
            return NotImplemented
        x, y = _of_one_width(self, self.ufix(other))
        return y.alu(op, x) if reverse else x.alu(op, y)

    # fmt: off
    def __sub__(self, other):
        return NotImplemented if _is_array(other) else self + self.ufix(other) * -1
    def __rsub__(self, other): return self.ufix(other) + self * -1
    def __neg__(self): return self.logical_not() if self._is_bool() else self * -1
    def __invert__(self): return self.logical_not() if self._is_bool() else self ^ -1

    def logical_not(self): return self.ne(True)
    def minimum(self, other): return self.mirror().maximum(self.ufix(other).mirror()).mirror()
    def where(self, yes, no):
        yes = (no if isinstance(no, UOp) else self).ufix(yes)
        return self.alu(Ops.WHERE, yes, yes.ufix(no))
    def mulacc(self, factor, term): return self.alu(Ops.MULACC, self.ufix(factor), self.ufix(term))
    def sqrt(self): return self.alu(Ops.SQRT)
    def exp2(self): return self.alu(Ops.EXP2)
    def log2(self): return self.alu(Ops.LOG2)
    def sin(self): return self.alu(Ops.SIN)
    def cos(self): return self.alu(Ops.COS)
    def trunc(self): return self.alu(Ops.TRUNC)
    def reciprocal(self): return self.alu(Ops.RECIP)
    def neg(self): return -self
    # fmt: on
    add, sub, mul = Operators.__add__, __sub__, Operators.__mul__
    div, mod, idiv = Operators.__truediv__, Operators.__mod__, Operators.__floordiv__

    def mirror(self) -> UOp:
        """The order reversed: what was the smallest value is the largest. Twice is the identity."""
        if dtypes.is_float(self.dtype):
            return -self
        # for signed ints the same as ~, but in terms that bounds and sums are known of
        return -self - 1 if self.dtype.scalar() in dtypes.sints else ~self

    def cast(self, dtype: DType) -> UOp:
        """Converted to `dtype`, lane by lane for vectors."""
        dtype = dtype.vec(self.dtype.count) if dtype.count == 1 else dtype
        return self if dtype is self.dtype else UOp(Ops.CAST, dtype, (self,))

    def bitcast(self, dtype: DType) -> UOp:
        """The same bits read as `dtype`."""
        dtype = dtype.vec(self.dtype.count) if dtype.count == 1 else dtype
        return self if dtype is self.dtype else UOp(Ops.BITCAST, dtype, (self,))

    def __bool__(self):
        low, high = self.simplify().bounds
        if low == high:
            return bool(low)
        raise ValueError(f"{self.render()} is not known to be true or false; ask with resolve(...)")

    def __int__(self):
        if isinstance(value := self.ssimplify(), int):
            return int(value)
        raise TypeError(
            f"{self.render()} has no single value: a number is needed here, such as a bound "
            "Variable's .val"
        )

    __index__ = __int__

    # ---- tensor level ---------------------------------------------------------------------------

    def reshape(self, shape: tuple) -> UOp:
        shape = map_sizes(shape, plain)
        return self if shape == self.shape else UOp(Ops.RESHAPE, self.dtype, (self,), shape)

    def permute(self, order: tuple[int, ...]) -> UOp:
        same = order == tuple(range(len(order)))
        return self if same else UOp(Ops.PERMUTE, self.dtype, (self,), order)

    def front(self, shape: tuple) -> UOp:
        """Memory of one axis as `shape`, which takes up its front where its size is symbolic."""
        return self.shrink(((0, elements(shape)),)).reshape(shape)

    def expand(self, shape: tuple) -> UOp:
        shape = map_sizes(shape, plain)
        elements(shape)  # are not too many
        return self if shape == self.shape else UOp(Ops.EXPAND, self.dtype, (self,), shape)

    def pad(self, widths: tuple[tuple[sint, sint], ...]) -> UOp:
        """Zeros (before, after) each axis."""
        widths = map_sizes(widths, plain)
        some = any(w != 0 for pair in widths for w in pair)
        return UOp(Ops.PAD, self.dtype, (self,), widths) if some else self

    def shrink(self, bounds: tuple[tuple[sint, sint], ...]) -> UOp:
        """[begin, end) of each axis."""
        bounds = map_sizes(bounds, plain)
        same = all(b == 0 and e == s for (b, e), s in zip(bounds, self.shape, strict=True))
        return self if same else UOp(Ops.SHRINK, self.dtype, (self,), bounds)

    def flip(self, axes: tuple[bool, ...]) -> UOp:
        return UOp(Ops.FLIP, self.dtype, (self,), axes) if any(axes) else self

    def window(self, axis: int, size: int, stride: int = 1, dilation: int = 1) -> UOp:
        """Every window of `size` elements along `axis`, as a new last axis: element o*stride +
        k*dilation."""
        return UOp(Ops.WINDOW, self.dtype, (self,), (axis, size, stride, dilation))

    def unwindow(self, axis: int, stride: int, dilation: int, length: int) -> UOp:
        """The transpose of window, before its sum over k: element i reads window (i -
        k*dilation)/stride where that is whole and in range, and is 0 elsewhere; the last axis stays
        k."""
        return UOp(Ops.UNWINDOW, self.dtype, (self,), (axis, stride, dilation, length))

    def reduce_axis(self, op: Ops, axes: Iterable[int]) -> UOp:
        """`op` (ADD, MUL, MAX) over `axes`, which are kept with size 1."""
        axes = tuple(sorted(a for a in axes if self.shape[a] != 1))
        return UOp(Ops.REDUCE_AXIS, self.dtype, (self,), (op, axes)) if axes else self

    def max(self, axis: int | tuple | None = None, keepdim: bool = False, keepdims=None) -> UOp:
        """The largest along axes: one, several, or (None) all; IndexError for one that is not."""
        if axis is None:
            axis = tuple(range(len(self.shape)))
        axes = {range(len(self.shape))[a] for a in (axis if isinstance(axis, tuple) else (axis,))}
        kept = self.reduce_axis(Ops.MAX, axes)
        if keepdim if keepdims is None else keepdims:
            return kept
        return kept.reshape(tuple(s for d, s in enumerate(self.shape) if d not in axes))

    def min(self, axis: int | tuple | None = None, keepdim: bool = False, keepdims=None) -> UOp:
        """The smallest along axes, as `max`."""
        return self.mirror().max(axis, keepdim, keepdims).mirror()

    def cat(self, *others: UOp, dim: int = 0) -> UOp:
        """Laid end to end along `dim`; the other axes have to agree.

        Many are joined in groups, and then the groups: so each lies below few choices."""
        parts = (self, *others)
        while len(parts) > JOINED_AT_ONCE:
            groups = [parts[n : n + JOINED_AT_ONCE] for n in range(0, len(parts), JOINED_AT_ONCE)]
            parts = tuple([first.cat(*more, dim=dim) for first, *more in groups])
        ends = list(itertools.accumulate(x.shape[dim] for x in parts))
        result = None
        for x, end in zip(parts, ends, strict=True):
            around = (end - x.shape[dim], ends[-1] - end)
            widths = tuple(around if d == dim else (0, 0) for d in range(len(x.shape)))
            # a choice and not a sum, which would make 0.0 of -0.0
            inside = UOp.const(dtypes.bool, True).broadcast_to(x.shape).pad(widths)
            result = x.pad(widths) if result is None else inside.where(x.pad(widths), result)
        assert result is not None
        return result

    def stack(self, *others: UOp, dim: int = 0) -> UOp:
        """Nodes of one shape along a new axis `dim`, from 0 to their number of axes."""
        shape = (*self.shape[:dim], 1, *self.shape[dim:])
        first, *rest = [x.reshape(shape) for x in (self, *others)]
        return first.cat(*rest, dim=dim)

    @staticmethod
    def iota(size: int, dtype: DType = dtypes.int) -> UOp:
        """0, 1, … size-1: each element is its own index. Like a constant it needs no memory."""
        return UOp(Ops.IOTA, dtype, (), size)

    def contiguous(self) -> UOp:
        return UOp(Ops.CONTIGUOUS, self.dtype, (self,))

    def fuse(self) -> UOp:
        """This value; what it is computed from is stored only where it is stored already."""
        return UOp(Ops.FUSE, self.dtype, (self,))

    def detach(self) -> UOp:
        return UOp(Ops.DETACH, self.dtype, (self,))

    def assign(self, value: UOp) -> UOp:
        return UOp(Ops.ASSIGN, self.dtype, (self, value))

    def copy_to_device(self, device: str) -> UOp:
        return UOp(Ops.COPY, self.dtype, (self, UOp(Ops.DEVICE, arg=device)))

    # ---- kernel and program level ---------------------------------------------------------------

    def index(self, *indices: UOp, valid: UOp | None = None, shape: tuple | None = None) -> UOp:
        """The place of one element: an expression per dimension of `shape`, read or written only
        where `valid` holds. The first source is the buffer, the second the condition."""
        valid = UOp.const(dtypes.bool, True) if valid is None else valid
        return UOp(Ops.INDEX, self.dtype, (self, valid, *indices), shape)

    def load(self) -> UOp:
        """The element at this INDEX; 0 where its condition does not hold, and then nothing is
        read."""
        return UOp(Ops.LOAD, self.dtype.base, (self,))

    def store(self, value: UOp, *ranges: UOp) -> UOp:
        return UOp(Ops.STORE, dtypes.void, (self, value, *ranges))

    def reduce(self, op: Ops, *ranges: UOp) -> UOp:
        return UOp(Ops.REDUCE, self.dtype, (self, *ranges), op) if ranges else self

    def stage(self, where: AddrSpace, *ranges: UOp) -> UOp:
        """This value over `ranges`, kept in memory `where`; others read it with index()."""
        return UOp(Ops.STAGE, self.dtype, (self, *ranges), where)

    def gep(self, lane: int) -> UOp:
        """One lane of a vector."""
        return UOp(Ops.GEP, self.dtype.scalar(), (self,), lane) if self.dtype.count > 1 else self

    def vectorize(self, count: int) -> UOp:
        """This scalar in every lane."""
        return UOp(Ops.VECTORIZE, self.dtype.vec(count), (self,) * count) if count > 1 else self

    @property
    def addrspace(self) -> AddrSpace:
        return self.dtype.addrspace if isinstance(self.dtype, PtrDType) else AddrSpace.REG


def _of_one_width(x: UOp, y: UOp) -> tuple[UOp, UOp]:
    """Beside an index of 64 bits one of 32 becomes as wide."""
    if x.dtype is not y.dtype and {x.dtype, y.dtype} == {dtypes.int, dtypes.long}:
        return x.cast(dtypes.long), y.cast(dtypes.long)
    return x, y


def _is_array(other: Any) -> bool:
    """Whether arithmetic with this is left to it: a Tensor, which knows what a Variable is."""
    return not isinstance(other, UOp) and getattr(other, "__array_ufunc__", True) is None


def _from_rows(rows: list[tuple]) -> UOp:
    """The node that __reduce__ wrote as rows of (op, dtype, numbers of the sources, arg, tag)."""
    made: list[UOp] = []
    for op, dtype, numbers, arg, tag in rows:
        made.append(UOp(op, dtype, tuple([made[n] for n in numbers]), arg, tag))
    return made[-1]


_no_ranges: frozenset[UOp] = frozenset()


def _union(sets: list[frozenset[UOp]]) -> frozenset[UOp]:
    """Of many that are empty or the same object."""
    different = {*sets} - {_no_ranges}
    return different.pop() if len(different) == 1 else _no_ranges.union(*different)


@UOp.ranges.rule(Ops.RANGE)
def _(u: UOp) -> frozenset[UOp]:
    return u.src[0].ranges | {u}


@UOp.ranges.rule(*FIRST_RANGE)
def _(u: UOp) -> frozenset[UOp]:
    first = FIRST_RANGE[u.op]
    return _no_ranges.union(*[s.ranges for s in u.src]) - frozenset(u.src[first:])


@UOp.device.rule(Ops.DEVICE)
def _(u: UOp):
    return u.arg


@UOp.device.rule(Ops.COPY, Ops.BUFFER)
def _(u: UOp):
    return u.src[1].device


@UOp.unknowns.rule(Ops.BIND, Ops.DEFINE_VAR)
def _(u: UOp) -> frozenset[UOp]:
    return frozenset({u})


# ---- sizes: ints, or expressions of Variables ---------------------------------------------------

sint = int | UOp


def sizes_in(arg: Any) -> list[UOp]:
    """The symbolic sizes in the argument of a movement op or an INDEX."""
    if isinstance(arg, UOp):
        return [arg]
    if not isinstance(arg, tuple) or set(map(type, arg)) == _JUST_INT:
        return []
    return [size for item in arg for size in sizes_in(item)]


def map_sizes(arg: Any, change: Callable[[UOp], sint]) -> Any:
    """The argument with each symbolic size changed."""
    if isinstance(arg, UOp):
        return change(arg)
    if not isinstance(arg, tuple) or set(map(type, arg)) == _JUST_INT:
        return arg
    return tuple([map_sizes(item, change) for item in arg])


def plain(size: sint) -> sint:
    """A size in the one form that equal sizes have; an int where it is one."""
    return size.ssimplify() if isinstance(size, UOp) else size  # type: ignore[return-value]


def lower(size: sint) -> int:
    """The smallest that a size can be."""
    return size.vmin if isinstance(size, UOp) else size


def upper(size: sint) -> int:
    """The largest that a size can be."""
    return size.vmax if isinstance(size, UOp) else size


def index_dtype(size: sint) -> DType:
    """What holds an index of an axis, and its size: int32, or int64 where that may be too small.

    ShapeError where even that is."""
    if (largest := upper(size)) <= dtypes.max(dtypes.int):
        return dtypes.int
    if largest > (limit := dtypes.max(dtypes.long)):
        raise ShapeError(f"{largest} elements are more than the {limit} that an index can count")
    return dtypes.long


def elements(shape: Iterable[sint]) -> sint:
    """The product of sizes; of symbolic ones in 64 bits where 32 may be too small."""
    sizes = tuple(shape)
    if index_dtype(math.prod(map(upper, sizes))) is dtypes.long:
        sizes = tuple([s.cast(dtypes.long) if isinstance(s, UOp) else s for s in sizes])
    return math.prod(sizes)


def resolve(condition: bool | UOp, default: bool = True) -> bool:
    """Is it true, whatever values Variables have? What cannot be decided from bounds is
    `default`."""
    if not isinstance(condition, UOp):
        return bool(condition)
    low, high = condition.simplify().bounds
    return bool(low) if low == high else default


def holds(condition: bool | UOp) -> bool:
    """Is it true for the values that Variables are bound to? What cannot be decided is."""
    if isinstance(condition, UOp):
        bound = {u: u.src[1] for u in condition.unknowns if u.op is Ops.BIND}
        condition = condition.substitute(bound)
    return resolve(condition)


# ---- RANGE: how often loops run, and of what kind they are ---------------------------------------

# kinds of ranges that are loops of their own; UPCAST, UNROLL and VECTOR ones have become copies,
# straight-line code and lanes
LOOPS = (
    AxisType.LOOP,
    AxisType.REDUCE,
    AxisType.THREAD,
    AxisType.GLOBAL,
    AxisType.LOCAL,
    AxisType.GROUP,
    AxisType.WARP,
)
# those that are the threads of a block, and the blocks too
THREADS = (AxisType.LOCAL, AxisType.GROUP, AxisType.WARP)
BLOCKS = (AxisType.GLOBAL, *THREADS)


def axis_type(r: UOp) -> AxisType:
    """What becomes of a RANGE: a loop, lanes, copies …"""
    return r.arg[1]


def extent(r: UOp) -> int:
    """Number of iterations of a RANGE (at most, where its size is symbolic)."""
    return r.vmax + 1


def iterations(ranges: Iterable[UOp]) -> int:
    """How often the innermost of nested RANGEs runs (at most)."""
    return math.prod(map(extent, ranges))


def fresh_number(root: UOp) -> int:
    """A number that no RANGE of a graph has, nor any larger one."""
    return 1 + max((r.arg[0] for r in root.toposort() if r.op is Ops.RANGE), default=-1)


def is_symbolic(r: UOp) -> bool:
    """Whether a RANGE's number of iterations depends on a Variable."""
    return r.src[0].op is not Ops.CONST


def identity(op: Ops, dtype: DType) -> ConstType:
    """What a REDUCE of nothing gives: 0, 1, the smallest value, or of AND all bits set."""
    return {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtype.min, Ops.OR: 0, Ops.AND: -1}[op]


# ---- the garbage collector waits while graphs are made -------------------------------------------
# Python looks for cycles each time that some hundreds of objects have been made and not gone, and
# graphs are nothing but that. Nodes have no cycles (they know their users weakly), so it looks in
# vain: with it a gradient through 500 activations takes 4.1 s to schedule, without 2.3 s.


@contextmanager
def collector_paused() -> Iterator[None]:
    """No cycles are looked for inside, and as before after it; also a decorator."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---- a graph made anew from its sources up: passes that are no tables of rules -------------------


def rebuild(
    root: UOp,
    change: Callable[[UOp, UOp], UOp],
    done: dict[UOp, UOp] | None = None,
    below: Callable[[UOp], bool] | None = None,
) -> UOp:
    """What a graph becomes when `change` is applied to each node, sources first.

    change: gets a node as it was, and the same node on its new sources (the same object where none
        is new); what it returns stands in the node's place.
    done: what some nodes become is known; what every other one becomes is added.
    below: False for a node that stays as it is, with everything under it.
    """
    done = {} if done is None else done
    known = set(done)

    def opens(u: UOp) -> bool:
        return u not in known and (below is None or below(u))

    for u in root.toposort(gate=opens if known or below else None):
        if u in known:
            continue
        if below is not None and not below(u):
            done[u] = u
            continue
        src = tuple([done[s] for s in u.src])
        done[u] = change(u, u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag))
    tell_became(done.items())
    return done[root]
