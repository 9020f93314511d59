"""The one node type. A tensor expression, a kernel and a machine-level program are all graphs of
UOps.

A UOp is immutable and *hash-consed*: building the same node twice gives the same object, so
equality is identity, common sub-expressions are shared for free, and any result computed from a
node can be cached on it. `a + b` is just `UOp(Ops.ADD, a.dtype, (a, b))`.

    >>> x = UOp.variable("x", 0, 9)
    >>> (x * 2 + 1) is (x * 2 + 1)
    True
    >>> (x * 2 + 1).vmax
    19

`spec.py` says what each op means, and at which of the three levels it is legal.
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
    """Every operation. A backend has to implement the elementwise ones; the rest is structure."""

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
    # -- elementwise: the remainder of a float division (binary), the cosine (unary)
    FMOD = enum.auto(); COS = enum.auto()
    # -- elementwise: only in programs, where a language has a shorter form
    MIN = enum.auto(); CMPLE = enum.auto()
    # -- kernel and program: computed by the threads of a warp together
    MMA = enum.auto(); FRAGMENT = enum.auto()
    # -- program: copies to panels that the threads need not wait for
    ASYNC_COPY = enum.auto(); COMMIT = enum.auto(); WAIT = enum.auto()
    # -- a reduce that keeps its running value: along an axis (tensor), along a loop (kernel)
    SCAN_AXIS = enum.auto(); SCAN = enum.auto()
    # -- tensor: elements at places that are data; in indices, while kernels are cut: such a place
    TAKE = enum.auto(); PLACE = enum.auto()
    # -- tensor: what was at such places just before each of them was written to
    FETCH = enum.auto()

    # names in common use for the same operations
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
    """Sets of ops that rules match on."""

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
    Scan = Reduce | {Ops.MULACC}
    Movement = {Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP, Ops.WINDOW,
                Ops.UNWINDOW}
    Defines = {Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG}
    All = set(Ops)


# fmt: on
class AxisType(enum.Enum):
    """What a RANGE becomes, with its letter in kernel names and its colour when printed."""

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
    SERIAL = "S", "red"

    def __init__(self, letter: str, color: str):
        self.letter, self.color = letter, color

    def __repr__(self) -> str:
        return f"AxisType.{self.name}"

    __hash__ = object.__hash__


# Nodes that know their users: these ops, constants on a device, and everything built on either.
_TRACKED = {Ops.BUFFER, Ops.IOTA, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN, Ops.DETACH, Ops.REDUCE_AXIS,
            Ops.SCAN_AXIS, Ops.TAKE, Ops.FETCH, Ops.FUSE, *GroupOp.Movement}  # fmt: skip

# op that closes loops -> the position, among its sources, of the first range that it owns
FIRST_RANGE = {Ops.REDUCE: 1, Ops.STAGE: 1, Ops.STORE: 2, Ops.MMA: 3}

# cat() joins more parts than this in groups. In a single chain, the first of n parts lies below n
# WHEREs, and the gradients of all parts pass n * n / 2 of them; in groups of 16, about n * 32.
JOINED_AT_ONCE = 16


_JUST_INT = {int}
Node = TypeVar("Node")  # a UOp, or whatever else has sources


def sources_first(
    roots: Iterable[Node],
    sources_of: Callable[[Node], tuple[Node, ...]] = operator.attrgetter("src"),
    known: Iterable[Node] = (),
) -> dict[Node, None]:
    """The given nodes and everything below them in topological order, sources first, each once.

    sources_of: the sources to follow from a node. known: nodes to leave out, with all below them.
    """
    order: dict[Node, None] = {}
    seen = set(known)
    stack: list[Node | None] = list(roots)
    stack.reverse()
    while stack:
        u = stack.pop()
        if u is None:  # all sources of the next node on the stack are done
            order[stack.pop()] = None  # type: ignore[index]
        elif u not in seen:
            seen.add(u)
            if below := sources_of(u):
                stack += (u, None, *below[::-1])
            else:
                order[u] = None
    return order


def arg_key(arg: Any) -> Any:
    """A key in which 1, 1.0 and True differ, 0.0 and -0.0 differ, and NaN equals itself."""
    kind = type(arg)
    if kind is int:
        return arg
    if kind is float:
        return struct.pack("d", arg)
    if kind is tuple:
        return arg if set(map(type, arg)) == _JUST_INT else tuple(map(arg_key, arg))
    return kind, arg


class recursive_property:
    """A property computed from the same property of the sources, by a rule per op.

    `@UOp.shape.rule(Ops.RESHAPE)` adds a rule. Values are cached on the nodes, and computed from
    the leaves up with an explicit stack, so a chain of 100,000 nodes is no problem.
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

    def __get__(self, node: UOp | None, owner: type | None = None) -> Any:
        """The value for a node, cached or computed now."""
        if node is None:
            return self
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

    of = __get__


P = ParamSpec("P")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


class provided(Generic[P, Result]):
    """A method of UOp that a later module implements, with `@UOp.simplify.by`, so that this file
    need not import it. `tinyframe/__init__.py` imports all these modules."""

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
    """The table's weak reference to a node. It still has the key when the node is gone."""

    __slots__ = ("key",)
    key: tuple


_nodes: dict[tuple, _Entry] = {}
_lock = threading.RLock()  # guards removals from the table and from lists of users
os.register_at_fork(  # no fork in the middle of a removal
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


def append_weak(refs: list[weakref.ref], ref: weakref.ref) -> None:
    """Appends to a list of weak references, and from time to time drops the dead ones."""
    refs.append(ref)
    if (count := len(refs)) > 16 and not count & (count - 1):
        drop_dead(refs)


def drop_dead(refs: list[weakref.ref]) -> None:
    """Removes dead references from a list; other threads may append to it meanwhile."""
    with _lock:
        count = len(refs)
        refs[:count] = [ref for ref in refs[:count] if ref() is not None]


def remove_weak(refs: list[weakref.ref], ref: weakref.ref) -> None:
    with _lock:
        refs.remove(ref)


# Default arguments, because nodes still die at interpreter exit, when the module's names are gone.
def _forget(entry: _Entry, nodes: dict = _nodes, lock: Any = _lock) -> None:
    key = entry.key
    with lock:  # not acquire() and try: a signal that raises in between would leave it locked
        if nodes.get(key) is entry:
            del nodes[key]
    entry.key = ()  # it keeps the sources alive, which may still list this entry as a user


class Operators:
    """Python's binary operators, each a call of `_binary(op, other, reverse)`: for UOp, its pattern
    UPat, and Tensor."""

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
    """The operators, and comparisons made of CMPLT, CMPNE and CMPEQ."""

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
    """One operation: `op` applied to the values of `src`, with a result of type `dtype`; `arg` has
    its other parameters.

    `tag` distinguishes nodes that are otherwise the same. Setting a field raises AttributeError.
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
            arg if arg is None or type(arg) is int else arg_key(arg),
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
        # Decided before other threads can find the node: what they build on it is tracked, too.
        is_tracked = op in _TRACKED or (op is Ops.CONST and bool(src))
        for s in src:
            if (users := s.__dict__.get("_users")) is not None:
                is_tracked = True
                append_weak(users, entry)
        if is_tracked:
            fields["_users"] = []  # the entries of its users
        while (known := table.setdefault(key, entry)) is not entry:  # another thread was faster
            if (other := known()) is not None:
                return other
            _forget(known)
        return node

    def __setattr__(self, name: str, value: Any):
        raise AttributeError(f"a UOp is immutable: use .replace({name}=...) to get a changed copy")

    # Nodes are immutable, so a copy is the node itself.
    def __copy__(self) -> UOp:
        return self

    def __deepcopy__(self, memo: dict) -> UOp:
        return self

    def __reduce__(self):
        # As a list, sources first: a graph may be deeper than Python's stack.
        order = list(self.toposort())
        if any(u.op is Ops.UNIQUE and u.arg >= 0 for u in order):
            raise TypeError(
                "a graph with BUFFERs cannot be pickled: they name memory of this process. Pickle "
                "the Tensor, which holds the values"
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
        fields = {name: getattr(self, name) for name in ("op", "dtype", "src", "arg", "tag")}
        if unknown := changes.keys() - fields.keys():
            raise TypeError(f"a UOp has no field {', '.join(sorted(unknown))}")
        return UOp(**fields | changes)

    def rtag(self, tag: Any = True) -> UOp:
        return self.replace(tag=tag)

    def toposort(self, gate: Callable[[UOp], bool] | None = None) -> dict[UOp, None]:
        """This node and everything below it, sources first, each once; the walk does not go below
        a node that `gate` rejects."""
        if gate is not None:
            return sources_first((self,), lambda u: u.src if gate(u) else ())
        if self.op is not Ops.SINK:
            return sources_first((self,))
        # a kernel is walked many times while it is compiled
        if (below := self.__dict__.get("_below")) is None:
            # without the node itself, or it would keep itself alive
            below = self.__dict__["_below"] = tuple(sources_first(self.src))
        return dict.fromkeys((*below, self))

    @provided
    def substitute(self, mapping: dict[UOp, UOp], name: str | None = None, extra_pm=None) -> UOp:
        """Replaces the nodes in `mapping`, including Variables in sizes; nothing is replaced inside
        a replacement. See rewrite/matcher.py."""
        raise NotImplementedError

    @provided
    def simplify(self) -> UOp:
        """The same value with the exact rules of algebra/symbolic.py applied to a fixed point."""
        raise NotImplementedError

    @provided
    def simplify_given(self, condition: UOp) -> UOp:
        """A value that equals this one wherever `condition` holds; see algebra/symbolic.py."""
        raise NotImplementedError

    def ssimplify(self) -> Any:
        """simplify(), with a constant as a Python number."""
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
        """The live nodes that have this one as a source. Recorded only at the tensor level: for
        memory, for that level's own ops (movement, reduces, CONTIGUOUS, …), and for everything
        built on those."""
        entries = tuple(self.__dict__.get("_users", ()))
        return [user for entry in entries if (user := entry()) is not None]

    # ---- properties of a value, each a table of rules per op ------------------------------------

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
        return self.dtype.min, self.dtype.max

    @recursive_property
    def ranges(self) -> frozenset[UOp]:
        """The RANGEs that this value depends on. REDUCE, STAGE and STORE close those they own."""
        return _union([s.ranges for s in self.src])

    @recursive_property
    def unknowns(self) -> frozenset[UOp]:
        """The Variables that this depends on, including those in sizes: BINDs, and DEFINE_VARs
        without a value."""
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
        """The node below all movement ops."""
        u = self
        while u.op in GroupOp.Movement:
            u = u.src[0]
        return u

    @property
    def own_ranges(self) -> tuple[UOp, ...]:
        """The RANGEs that a REDUCE, STAGE, STORE or MMA closes; none for other ops."""
        return self.src[FIRST_RANGE.get(self.op, len(self.src)) :]

    def with_ranges(self, *ranges: UOp) -> UOp:
        """The same REDUCE, STAGE, STORE or MMA, closing other RANGEs."""
        return self.replace(src=(*self.src[: FIRST_RANGE[self.op]], *ranges))

    def variables(self) -> list[UOp]:
        """The DEFINE_VARs that this depends on, including those in shapes, sorted by name."""
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
        """Expands axes of size 1, and adds missing leading axes."""
        if self.shape == shape:
            return self
        ones = (1,) * (len(shape) - len(self.shape)) + self.shape
        return self.reshape(ones).expand(shape)

    @staticmethod
    def variable(name: str, min_val: int, max_val: int, dtype: DType | None = None) -> UOp:
        """A named integer in [min_val, max_val], whose value comes from bind(): an int32, or an
        int64 if that is too small. ValueError for a name that isn't an ASCII identifier, or if the
        minimum is above the maximum."""
        dtype = dtype or index_dtype(max(max_val, -1 - min_val))
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"{name!r} cannot name a Variable: use ASCII letters, digits and _")
        if min_val > max_val:
            raise ValueError(
                f"Variable {name!r}: the minimum {min_val} is above the maximum {max_val}"
            )
        return UOp(Ops.DEFINE_VAR, dtype, (), (name, min_val, max_val))

    def bind(self, value: int) -> UOp:
        """The Variable with a value; BindError if that is outside its limits."""
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
        """A name for memory of `size` elements on `device`; the memory itself is in device.py."""
        return UOp(Ops.BUFFER, dtype, (UOp.unique(), UOp(Ops.DEVICE, arg=device)), size)

    @staticmethod
    def iota(size: sint, device: str) -> UOp:
        """0, 1, … size-1: indices as values, which need no memory."""
        place = UOp(Ops.DEVICE, arg=device)
        return UOp(Ops.IOTA, index_dtype(size), (place,), upper(size)).front((size,))

    @staticmethod
    def range(size: int | UOp, axis: int, kind: AxisType = AxisType.LOOP) -> UOp:
        """A loop variable that runs over 0 … size-1; `axis` distinguishes it from other ranges."""
        end = size if isinstance(size, UOp) else UOp.const(index_dtype(size), size)
        return UOp(Ops.RANGE, end.dtype, (end,), (axis, kind))

    @staticmethod
    def special(name: str, size: sint) -> UOp:
        """The index of a block (gidx0, gidx1, gidx2), or of a thread within its block (lidx0, …),
        along one axis: 0 … size-1."""
        return UOp(Ops.SPECIAL, dtypes.int, (), (name, size))

    @staticmethod
    def invalid() -> UOp:
        return UOp(Ops.CONST, dtypes.int, (), Invalid)

    def valid(self, condition: UOp | bool) -> UOp:
        """This index where the condition holds; elsewhere Invalid, which must not be read."""
        return self if condition is True else self.ufix(condition).where(self, UOp.invalid())

    # ---- elementwise ----------------------------------------------------------------------------

    def alu(self, op: Ops, *others: UOp) -> UOp:
        """`op` applied to this and the others. Comparisons give bool, other ops the dtype of the
        last source."""
        src = (self, *others)
        dtype = src[-1].dtype
        if op in GroupOp.Comparison:
            dtype = dtypes.bool.vec(dtype.count)
        return UOp(op, dtype, src)

    def ufix(self, value: Any) -> UOp:
        """A Python number as a constant of this shape and dtype; a float that meets a non-float
        gets the default float dtype."""
        if isinstance(value, UOp):
            return value
        if isinstance(value, float) and not dtypes.is_float(self.dtype):
            return UOp.const(dtypes.default_float, value).broadcast_to(self.shape)
        return self.const_like(value)

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> UOp:
        if _takes_over(other):
            return NotImplemented
        x, y = self, self.ufix(other)
        if x.dtype is not y.dtype and {x.dtype, y.dtype} == {dtypes.int, dtypes.long}:
            x, y = x.cast(dtypes.long), y.cast(dtypes.long)  # a 32-bit index meets a 64-bit one
        return y.alu(op, x) if reverse else x.alu(op, y)

    # fmt: off
    def __sub__(self, other):
        return NotImplemented if _takes_over(other) else self + self.ufix(other) * -1
    def __rsub__(self, other): return self.ufix(other) + self * -1
    def __neg__(self): return self.logical_not() if dtypes.is_bool(self.dtype) else self * -1
    def __invert__(self): return self.logical_not() if dtypes.is_bool(self.dtype) else self ^ -1

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
        """Reverses the order of values: the smallest becomes the largest. Twice is the identity."""
        if dtypes.is_float(self.dtype):
            return -self
        # for signed ints the same as ~, but in ops that bounds.py and sums.py understand
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
        """One-dimensional memory, viewed as `shape`; a symbolic shape takes up only the front."""
        return self.shrink(((0, elements(shape)),)).reshape(shape)

    def expand(self, shape: tuple) -> UOp:
        shape = map_sizes(shape, plain)
        elements(shape)  # raises ShapeError if they are too many
        return self if shape == self.shape else UOp(Ops.EXPAND, self.dtype, (self,), shape)

    def pad(self, widths: tuple[tuple[sint, sint], ...]) -> UOp:
        """Adds (before, after) zeros to each axis."""
        widths = map_sizes(widths, plain)
        some = any(w != 0 for pair in widths for w in pair)
        return UOp(Ops.PAD, self.dtype, (self,), widths) if some else self

    def shrink(self, bounds: tuple[tuple[sint, sint], ...]) -> UOp:
        """Keeps [begin, end) of each axis."""
        bounds = map_sizes(bounds, plain)
        same = all(b == 0 and e == s for (b, e), s in zip(bounds, self.shape, strict=True))
        return self if same else UOp(Ops.SHRINK, self.dtype, (self,), bounds)

    def flip(self, axes: tuple[bool, ...]) -> UOp:
        return UOp(Ops.FLIP, self.dtype, (self,), axes) if any(axes) else self

    def window(self, axis: int, size: int, stride: int = 1, dilation: int = 1) -> UOp:
        """All windows of `size` elements along `axis`: element k (along a new last axis) of window
        o (along `axis`) is the source's element o*stride + k*dilation."""
        return UOp(Ops.WINDOW, self.dtype, (self,), (axis, size, stride, dilation))

    def unwindow(self, axis: int, stride: int, dilation: int, length: int) -> UOp:
        """The transpose of window, but without the sum over k, the last axis: element (i, k) is
        taken from window (i - k*dilation)/stride, or is 0 if that is not an integer in range."""
        return UOp(Ops.UNWINDOW, self.dtype, (self,), (axis, stride, dilation, length))

    def reduce_axis(self, op: Ops, axes: Iterable[int]) -> UOp:
        """`op` (ADD, MUL, MAX) over `axes`, which are kept with size 1."""
        axes = tuple(sorted(a for a in axes if self.shape[a] != 1))
        return UOp(Ops.REDUCE_AXIS, self.dtype, (self,), (op, axes)) if axes else self

    def scan_axis(self, op: Ops, axis: int, *term: UOp) -> UOp:
        """`op` (ADD, MUL, MAX) of all elements up to each one along `axis`. With MULACC, a linear
        recurrence: its value so far times each element of this, plus that of `term`."""
        if not self.shape or self.shape[axis] == 1:
            return (self, *term)[-1]
        return UOp(Ops.SCAN_AXIS, self.dtype, (self, *term), (op, axis))

    def max(self, axis: int | tuple | None = None, keepdim: bool = False, keepdims=None) -> UOp:
        """The maximum over one axis, several, or (None) all; IndexError for one out of range."""
        if axis is None:
            axis = tuple(range(len(self.shape)))
        axes = {range(len(self.shape))[a] for a in (axis if isinstance(axis, tuple) else (axis,))}
        kept = self.reduce_axis(Ops.MAX, axes)
        if keepdim if keepdims is None else keepdims:
            return kept
        return kept.reshape(tuple(s for d, s in enumerate(self.shape) if d not in axes))

    def min(self, axis: int | tuple | None = None, keepdim: bool = False, keepdims=None) -> UOp:
        """The minimum, like `max`."""
        return self.mirror().max(axis, keepdim, keepdims).mirror()

    def cat(self, *others: UOp, dim: int = 0) -> UOp:
        """Concatenation along `dim`; the other axes must agree.

        Many parts are joined in groups, then the groups, so that each lies below few WHEREs."""
        parts = (self, *others)
        while len(parts) > JOINED_AT_ONCE:
            groups = [parts[n : n + JOINED_AT_ONCE] for n in range(0, len(parts), JOINED_AT_ONCE)]
            parts = tuple([first.cat(*more, dim=dim) for first, *more in groups])
        ends = list(itertools.accumulate(x.shape[dim] for x in parts))
        result = None
        for x, end in zip(parts, ends, strict=True):
            around = (end - x.shape[dim], ends[-1] - end)
            widths = tuple(around if d == dim else (0, 0) for d in range(len(x.shape)))
            # a WHERE and not a sum, which would turn -0.0 into 0.0
            inside = UOp.const(dtypes.bool, True).broadcast_to(x.shape).pad(widths)
            result = x.pad(widths) if result is None else inside.where(x.pad(widths), result)
        assert result is not None
        return result

    def stack(self, *others: UOp, dim: int = 0) -> UOp:
        """Stacks nodes of equal shape along a new axis `dim`, 0 to their number of axes."""
        shape = (*self.shape[:dim], 1, *self.shape[dim:])
        first, *rest = [x.reshape(shape) for x in (self, *others)]
        return first.cat(*rest, dim=dim)

    def contiguous(self) -> UOp:
        return UOp(Ops.CONTIGUOUS, self.dtype, (self,))

    def fuse(self) -> UOp:
        """This value, with no intermediate value stored except by CONTIGUOUS, ASSIGN and COPY."""
        return UOp(Ops.FUSE, self.dtype, (self,))

    def detach(self) -> UOp:
        return UOp(Ops.DETACH, self.dtype, (self,))

    def take(self, axis: int, index: UOp) -> UOp:
        """Element (…, index[…, k, …], …) along an axis, in the shape of `index`, whose other axes
        are those of this; 0 where there is no such element."""
        return UOp(Ops.TAKE, self.dtype, (self, index), axis)

    def assign(self, value: UOp, view: UOp | None = None, op: Ops | None = None) -> UOp:
        """This memory, once it holds a value; or once a view of it does. At places that are data,
        the view is a TAKE: the last value for a place stays, or `op` (ADD, MUL, MAX) combines all
        of them with what is there, in their order along its axis. STORE is a promise: no two values
        have the same place, so their order does not matter."""
        src = (self, value) if view is None else (self, value, view)
        return UOp(Ops.ASSIGN, self.dtype, src, op)

    def fetch(self, axis: int, index: UOp, value: UOp, op: Ops) -> UOp:
        """What the element of a copy at such a place is just before `op` combines it with a value,
        one after the other along an axis."""
        memory = self.contiguous().rtag("used up")  # by this alone
        return UOp(Ops.FETCH, self.dtype, (memory.take(axis, index), value), op)

    def copy_to_device(self, device: str) -> UOp:
        return UOp(Ops.COPY, self.dtype, (self, UOp(Ops.DEVICE, arg=device)))

    # ---- kernel and program level ---------------------------------------------------------------

    def index(self, *indices: UOp, valid: UOp | None = None, shape: tuple | None = None) -> UOp:
        """The place of one element: an expression per dimension of `shape`. It is read or written
        only where `valid` holds. Sources: the buffer, the condition, the expressions."""
        valid = UOp.const(dtypes.bool, True) if valid is None else valid
        return UOp(Ops.INDEX, self.dtype, (self, valid, *indices), shape)

    def load(self, *turns: UOp) -> UOp:
        """The element at this INDEX, read anew in each of these turns. Where its condition fails
        it is 0, and nothing is read."""
        return UOp(Ops.LOAD, self.dtype.base, (self, *turns))

    def store(self, value: UOp, *ranges: UOp) -> UOp:
        return UOp(Ops.STORE, dtypes.void, (self, value, *ranges))

    def reduce(self, op: Ops, *ranges: UOp) -> UOp:
        return UOp(Ops.REDUCE, self.dtype, (self, *ranges), op) if ranges else self

    def stage(self, where: AddrSpace, *ranges: UOp) -> UOp:
        """The values for all iterations of `ranges`, kept in memory `where`; index() reads one."""
        return UOp(Ops.STAGE, self.dtype, (self, *ranges), where)

    def gep(self, lane: int) -> UOp:
        """One lane of a vector."""
        if self.op is Ops.VECTORIZE:
            return self.src[lane]
        return UOp(Ops.GEP, self.dtype.scalar(), (self,), lane) if self.dtype.count > 1 else self

    def vectorize(self, count: int) -> UOp:
        """This scalar in every lane; a vector of as many lanes is itself."""
        if self.dtype.count == count:
            return self
        return UOp(Ops.VECTORIZE, self.dtype.vec(count), (self,) * count)

    @property
    def addrspace(self) -> AddrSpace:
        return self.dtype.addrspace if isinstance(self.dtype, PtrDType) else AddrSpace.REG


def _takes_over(other: Any) -> bool:
    """Whether `other` does the arithmetic: a Tensor, which knows what to do with a Variable."""
    return not isinstance(other, UOp) and getattr(other, "__array_ufunc__", True) is None


def _from_rows(rows: list[tuple]) -> UOp:
    """A node from the rows that __reduce__ wrote: (op, dtype, numbers of the sources, arg, tag)."""
    made: list[UOp] = []
    for op, dtype, numbers, arg, tag in rows:
        made.append(UOp(op, dtype, tuple([made[n] for n in numbers]), arg, tag))
    return made[-1]


_no_ranges: frozenset[UOp] = frozenset()


def _union(sets: list[frozenset[UOp]]) -> frozenset[UOp]:
    """The union of sets, most of which are empty or the same object."""
    different = {*sets} - {_no_ranges}
    return different.pop() if len(different) == 1 else _no_ranges.union(*different)


@UOp.ranges.rule(Ops.RANGE)
def _(u: UOp) -> frozenset[UOp]:
    return u.src[0].ranges | {u}


@UOp.ranges.rule(*FIRST_RANGE)
def _(u: UOp) -> frozenset[UOp]:
    return _no_ranges.union(*[s.ranges for s in u.src]) - frozenset(u.own_ranges)


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
    """The argument, with `change` applied to each symbolic size."""
    if isinstance(arg, UOp):
        return change(arg)
    if not isinstance(arg, tuple) or set(map(type, arg)) == _JUST_INT:
        return arg
    return tuple([map_sizes(item, change) for item in arg])


def plain(size: sint) -> sint:
    """A size in its canonical form, the same object for equal sizes; an int if it is constant."""
    return size.ssimplify() if isinstance(size, UOp) else size


def lower(size: sint) -> int:
    """The smallest value of a size."""
    return size.vmin if isinstance(size, UOp) else size


def upper(size: sint) -> int:
    """The largest value of a size."""
    return size.vmax if isinstance(size, UOp) else size


def index_dtype(size: sint) -> DType:
    """The dtype for an axis's indices and its size: int32, or int64 if that may be too small.

    ShapeError if even int64 is."""
    if (largest := upper(size)) <= dtypes.int.max:
        return dtypes.int
    if largest > (limit := dtypes.long.max):
        raise ShapeError(f"{largest} elements are more than the {limit} that an index can count")
    return dtypes.long


def elements(shape: Iterable[sint]) -> sint:
    """The product of sizes; symbolic ones are multiplied in 64 bits if 32 may be too few."""
    sizes = tuple(shape)
    if index_dtype(math.prod(map(upper, sizes))) is dtypes.long:
        sizes = tuple([s.cast(dtypes.long) if isinstance(s, UOp) else s for s in sizes])
    return math.prod(sizes)


def resolve(condition: bool | UOp, default: bool = True) -> bool:
    """Whether a condition holds for all values of its Variables; `default` if its bounds do not
    decide that."""
    if not isinstance(condition, UOp):
        return bool(condition)
    low, high = condition.simplify().bounds
    return bool(low) if low == high else default


def holds(condition: bool | UOp) -> bool:
    """Whether a condition holds for the values its Variables are bound to; True if undecided."""
    if isinstance(condition, UOp):
        bound = {u: u.src[1] for u in condition.unknowns if u.op is Ops.BIND}
        condition = condition.substitute(bound)
    return resolve(condition)


# ---- RANGE: how often loops run, and of which kind they are --------------------------------------

# the kinds that expansion turns into copies, straight-line code or lanes, and those that it keeps
EXPANDED = (AxisType.UPCAST, AxisType.UNROLL, AxisType.VECTOR)
LOOPS = tuple([kind for kind in AxisType if kind not in EXPANDED])
# the kinds for the threads of a block, and for blocks and their threads
THREADS = (AxisType.LOCAL, AxisType.GROUP, AxisType.WARP)
BLOCKS = (AxisType.GLOBAL, *THREADS)


def axis_type(r: UOp) -> AxisType:
    """What a RANGE becomes: a loop, lanes, copies …"""
    return r.arg[1]


def loops_of_scan(scan: UOp) -> tuple[UOp, ...]:
    """The loops of a SCAN, outermost first."""
    return scan.src[2 if scan.arg is Ops.MULACC else 1 :]


def extent(r: UOp) -> int:
    """Number of iterations of a RANGE (at most, if its size is symbolic)."""
    return r.vmax + 1


def iterations(ranges: Iterable[UOp]) -> int:
    """Number of iterations of the innermost of nested RANGEs (at most)."""
    return math.prod(map(extent, ranges))


def fresh_number(root: UOp) -> int:
    """A number larger than that of any RANGE in a graph."""
    return 1 + max((r.arg[0] for r in root.toposort() if r.op is Ops.RANGE), default=-1)


def is_symbolic(r: UOp) -> bool:
    """Whether a RANGE's number of iterations depends on a Variable."""
    return r.src[0].op is not Ops.CONST


def identity(op: Ops, dtype: DType) -> ConstType:
    """The value of a REDUCE over nothing, where a SCAN begins: 0, 1, the smallest value, or for AND
    all bits set."""
    return {Ops.MUL: 1, Ops.MAX: dtype.min, Ops.AND: -1}.get(op, 0)


# ---- the garbage collector is paused while graphs are built --------------------------------------
# Python looks for reference cycles each time a few hundred more objects are alive, and a graph is
# thousands of them. Nodes form no cycles (they refer weakly to their users), so the search finds
# nothing: scheduling a gradient through 500 activations takes 4.1 s with it, and 2.3 s without.


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses Python's search for cycles, and restores it afterwards; also a decorator."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---- rebuilding a graph from its sources up, for passes that are not tables of rules -------------


def rebuild(
    root: UOp,
    change: Callable[[UOp, UOp], UOp],
    done: dict[UOp, UOp] | None = None,
    below: Callable[[UOp], bool] | None = None,
) -> UOp:
    """The graph with `change` applied to each node, sources first.

    change: gets the old node, and the same node on its new sources (the same object if none
        changed); returns the replacement.
    done: the replacements known so far; those of all other nodes are added.
    below: False for a node that stays as it is, with everything below it.
    """
    done = {} if done is None else done
    known = set(done)

    def opens(u: UOp) -> bool:
        return u not in known and (below is None or below(u))

    for u in root.toposort(gate=opens if known or below else None):
        if not opens(u):
            done.setdefault(u, u)
            continue
        src = tuple([done[s] for s in u.src])
        done[u] = change(u, u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag))
    tell_became(done.items())
    return done[root]
