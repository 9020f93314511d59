"""TinyJit: the kernels of a function, captured once and replayed without running its Python.

    @TinyJit
    def step(x, y):
        loss = model(x).cross_entropy(y).backward()
        optimizer.step()
        return loss

The first call runs as always. The second runs too, and what it launches is recorded. From the third
call on the recorded kernels are launched on the new inputs, and the Python body is not run any
more: whatever it did besides Tensors (printing, counting, branching on a Python value) is frozen.

What may change from call to call is what is passed in: Tensors (of the same shape, dtype, device
and view) and bound Variables. Everything else is part of what was captured.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

from tinyframe.device import Buffer, buffer_of
from tinyframe.settings import settings
from tinyframe.uop.movement import memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

# What runs a schedule is imported where it is needed: `import tinyframe` should not pay for it.
if TYPE_CHECKING:
    from tinyframe.engine.realize import Run
    from tinyframe.engine.replay import Replay
    from tinyframe.schedule.item import ScheduleItem
    from tinyframe.tensor.base import TensorBase

P = ParamSpec("P")
Result = TypeVar("Result")


class JitError(RuntimeError):
    """A call that a captured function cannot answer; the message says what differs and what to
    do."""


@dataclass(frozen=True)
class Signature:
    """What an argument was when it was captured, and so what a later one has to be like."""

    place: str  # such as `args[0]` or `batch['x']`
    view: UOp  # the graph on its buffer, the buffer itself made anonymous

    def __str__(self) -> str:
        return f"{sizes_text(self.view.shape)} {self.view.dtype} on {self.view.device}"


@dataclass(frozen=True)
class Usual:
    """The usual call, told from others at a glance: Tensors that lie in memory as they are, and no
    Variables. Whatever differs from it is looked at closely."""

    layout: list[Any]
    memories: list[tuple | None]
    captured: list[Buffer]
    seen: list[weakref.ref[UOp]]  # the last call's graphs: what is given again is known already

    @staticmethod
    def of(args: tuple, kwargs: Mapping[str, Any]) -> Usual | None:
        layout, tensors = _layout(args, kwargs)
        graphs = [tensor.uop for tensor in tensors]
        memories = [_memory_as_it_lies(uop) for uop in graphs]
        if None in memories or UOp in layout or any(uop.unknowns for uop in graphs):
            return None
        captured = [buffer_of(uop.base) for uop in graphs]
        return Usual(layout, memories, captured, [weakref.ref(uop) for uop in graphs])

    def replaced(self, args: tuple, kwargs: Mapping[str, Any]) -> dict[Buffer, Buffer] | None:
        """What takes the place of the captured buffers; None where this call needs a closer
        look."""
        layout, tensors = _layout(args, kwargs)
        if layout != self.layout:
            return None
        replaced: dict[Buffer, Buffer] = {}
        for n, tensor in enumerate(tensors):
            uop = tensor.uop
            if self.seen[n]() is not uop:
                if _memory_as_it_lies(uop) != self.memories[n]:
                    return None
                self.seen[n] = weakref.ref(uop)
            replaced[self.captured[n]] = buffer_of(memory_state(uop))
        return replaced if len(set(replaced.values())) == len(tensors) else None


@dataclass
class Captured:
    """A recorded call: what it launched, and how arguments and results are connected to that."""

    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]] = field(default_factory=list)
    # the same with as many runs together as can be, from the first replay on
    replays: list[tuple[Replay, dict[UOp, int]]] = field(default_factory=list)
    inputs: list[tuple[Signature, Buffer]] = field(default_factory=list)
    usual: Usual | None = None
    variables: set[UOp] = field(default_factory=set)  # those that the arguments depend on
    sizes: list[Signature] = field(default_factory=list)  # arguments that are expressions of these
    # memory that numbers for random() are read from, and how many counters each call takes
    random: list[tuple[Buffer, Callable[[Buffer], None]]] = field(default_factory=list)
    result: Any = None  # the returned structure, with graphs in place of Tensors
    made: list[UOp] = field(
        default_factory=list
    )  # buffers that each replay makes anew for its results

    @property
    def items(self) -> list[ScheduleItem]:
        """Everything that is launched, in order."""
        return [item for items, _ in self.runs for item in items]

    @property
    def kernels(self) -> list[UOp]:
        """The loop nests among it."""
        return [item.ast for item in self.items if item.ast.op is Ops.SINK]

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.inputs)} inputs>"


_capturing: list[Captured] = []  # the call that is being captured now, if any


def is_capturing() -> bool:
    return bool(_capturing)


def needs_value(what: str) -> None:
    """Raises JitError while a function is captured: a Python value would be frozen into it."""
    if _capturing:
        raise JitError(
            f"{what} inside a TinyJit: the value would be frozen at what it is in this call. "
            "Return the Tensor and read it outside"
        )


def refill_at_replay(buffer: Buffer, refill: Callable[[Buffer], None]) -> None:
    """Memory that a captured call reads and every replay has to fill anew (the state of random
    numbers)."""
    for captured in _capturing:
        captured.random.append((buffer, refill))


class TinyJit(Generic[P, Result]):
    """A decorator for functions and methods of Tensors; a method's capture is shared by all
    instances.

    cnt: calls so far. captured: what was recorded, from the second call on. reset(): forget it.
    Raises JitError where a call does not fit what was captured, and where nothing can be.
    """

    def __init__(self, fxn: Callable[P, Result], prune: bool = False):
        self.fxn, self.prune = fxn, prune
        functools.update_wrapper(self, fxn)
        self.reset()

    def reset(self) -> None:
        self.cnt = 0
        self.captured: Captured | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = functools.partial(self.__call__, instance)
        bound.reset, bound.jit = self.reset, self  # type: ignore[attr-defined]
        return bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        if _capturing:
            raise JitError(
                f"{self._name()} is called while another TinyJit is captured: only the outer one "
                "can be replayed, so leave the inner one out"
            )
        if not settings.JIT or self.cnt == 0:
            result = self.fxn(*args, **kwargs)
            _realize(result, [])
        elif self.captured is None:
            result = self._capture(args, kwargs)
        else:
            result = self._replay(self.captured, args, kwargs)
        self.cnt += 1
        return result

    def _name(self) -> str:
        return getattr(self.fxn, "__qualname__", repr(self.fxn))

    # ---- capturing ------------------------------------------------------------------------------

    def _capture(self, args: Any, kwargs: Any) -> Result:
        from tinyframe.engine.realize import record_runs

        captured = Captured()
        tensors = self._tensors(args, kwargs)
        captured.variables = set(_bound_in(args, kwargs))
        captured.sizes = _sizes(args, kwargs)
        captured.usual = Usual.of(args, kwargs)
        for place, tensor in tensors:
            buffer = buffer_of(_buffer_under(tensor.uop))
            if twin := next((s.place for s, b in captured.inputs if b is buffer), None):
                raise JitError(
                    f"{self._name()}: {place} and {twin} are the same Tensor; a replay could not "
                    "tell which of them a kernel means. Pass it once, or a clone()"
                )
            captured.inputs.append((_signature(place, tensor), buffer))
        started = UOp.unique().arg
        earlier = set(_pending_assigns())
        _capturing.append(captured)
        try:
            with record_runs() as captured.runs:
                result = self.fxn(*args, **kwargs)
                # what was assigned but not realized (running statistics, say) belongs to the call
                _realize(result, [t for a, t in _pending_assigns().items() if a not in earlier])
        finally:
            _capturing.pop()
        if not captured.items:
            raise JitError(
                f"{self._name()} launched no kernel: there is nothing to replay. It has to compute "
                "something from the Tensors that it is given"
            )
        captured.result = _map(result, lambda tensor: tensor.uop)
        written = {buffer for item in captured.items for buffer in item.bufs}
        for uop in _leaves(captured.result):
            base = _buffer_under(uop)
            if base.op is Ops.BUFFER and base.src[0].arg >= started and buffer_of(base) in written:
                captured.made.append(base)
        captured.made = list(dict.fromkeys(captured.made))
        self.captured = captured
        return result

    def _tensors(self, args: Any, kwargs: Any) -> list[tuple[str, TensorBase]]:
        """The Tensors among the arguments, in memory, by place."""
        tensors = [(place, value) for place, value in _walk(args, kwargs) if _is_tensor(value)]
        for place, tensor in tensors:
            tensor.realize()
            if _buffer_under(tensor.uop).op is not Ops.BUFFER:
                raise JitError(
                    f"{self._name()}: {place} is a constant, which has no memory that a replay "
                    "could read anew; make it contiguous() first, or create it inside"
                )
        return tensors

    # ---- replaying ------------------------------------------------------------------------------

    def _replay(self, captured: Captured, args: Any, kwargs: Any) -> Result:
        bound: dict[UOp, UOp] = {}
        replaced = captured.usual.replaced(args, kwargs) if captured.usual is not None else None
        if replaced is None:
            replaced, bound = self._looked_at(captured, args, kwargs)
        fresh: dict[UOp, UOp] = {}
        for base in captured.made:
            new = UOp(Ops.BUFFER, base.dtype, (UOp.unique(), base.src[1]), base.arg)
            replaced[buffer_of(base)] = buffer_of(new)
            fresh[base] = new
        for buffer, refill in captured.random:
            refill(buffer)
        if not captured.replays:
            from tinyframe.engine.replay import Replay

            captured.replays = [(Replay(items), was) for items, was in _joined(captured.runs)]
        for replay, var_vals in captured.replays:
            if bound:
                var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
            replay(replaced, var_vals)
        tensor_class = _tensor_class()

        def result(uop: UOp) -> TensorBase:
            new = fresh.get(memory_state(uop))
            if new is None or uop.unknowns:
                rebound = {u: bound.get(u.src[0], u) for u in uop.unknowns if u.op is Ops.BIND}
                changed = fresh | rebound
                return tensor_class._of(uop.substitute(changed) if changed else uop)
            if uop in fresh:
                return tensor_class._of(new)
            return tensor_class._of(UOp(Ops.RESHAPE, uop.dtype, (new,), uop.shape))

        return _map(captured.result, result, UOp)

    def _looked_at(
        self, captured: Captured, args: Any, kwargs: Any
    ) -> tuple[dict[Buffer, Buffer], dict[UOp, UOp]]:
        """What takes the place of the captured buffers, and the Variables' values.

        JitError where an argument is not like the captured one.
        """
        tensors = self._tensors(args, kwargs)
        places = [place for place, _ in tensors]
        wanted = [signature.place for signature, _ in captured.inputs]
        if places != wanted:
            self._refuse(
                f"it was captured with Tensors at {_list(wanted)}, and is called with Tensors at "
                f"{_list(places)}"
            )
        replaced: dict[Buffer, Buffer] = {}
        for (place, tensor), (signature, captured_buffer) in zip(
            tensors, captured.inputs, strict=True
        ):
            if (now := _signature(place, tensor)) != signature:
                difference = (
                    f"{signature}, not {now}"
                    if str(now) != str(signature)
                    else "another view of its memory"
                )
                self._refuse(f"{place} was captured as {difference}")
            buffer = buffer_of(_buffer_under(tensor.uop))
            if buffer in replaced.values():
                self._refuse(f"{place} is the same Tensor as another argument")
            replaced[captured_buffer] = buffer
        bound = _bound_in(args, kwargs)
        if _sizes(args, kwargs) != captured.sizes or bound.keys() != captured.variables:
            self._refuse(
                f"it was captured with the Variables {_names(captured.variables)}, and is called "
                f"with {_names(bound)}; name, bounds and what is computed from them have to be the "
                "same"
            )
        return replaced, bound

    def _refuse(self, why: str) -> NoReturn:
        raise JitError(
            f"{self._name()}: {why}. Call .reset() to capture it anew, or use a TinyJit for each "
            "case"
        )


# ---- arguments and results -----------------------------------------------------------------------


def _walk(args: tuple, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything in the arguments that is no container, with a name for its place."""
    pending = [(f"args[{n}]", value) for n, value in enumerate(args)] + sorted(kwargs.items())
    while pending:
        place, value = pending.pop(0)
        if isinstance(value, (list, tuple)):
            pending[:0] = [(f"{place}[{n}]", x) for n, x in enumerate(value)]
        elif isinstance(value, dict):
            pending[:0] = [(f"{place}[{key!r}]", x) for key, x in value.items()]
        else:
            yield place, value


def _layout(args: tuple, kwargs: Mapping[str, Any]) -> tuple[list[Any], list[TensorBase]]:
    """How the arguments are nested and of what types they are; the Tensors among them."""
    tensor_class = _tensor_class()
    if not kwargs and all(isinstance(value, tensor_class) for value in args):
        return [type(value) for value in args], list(args)
    layout: list[Any] = [tuple(kwargs)]
    tensors: list[TensorBase] = []

    def add(values: Iterable[Any]) -> None:
        for value in values:
            kind = type(value)
            layout.append(kind)
            if _is_tensor(value):
                tensors.append(value)
            elif isinstance(value, dict):
                layout.append(tuple(value))
                add(value.values())
            elif isinstance(value, (list, tuple)):
                layout.append(len(value))
                add(value)

    add(args)
    add(kwargs.values())
    return layout, tensors


def _memory_as_it_lies(uop: UOp) -> tuple | None:
    """Whole memory in some shape: all that a kernel knows of it. None for any other view."""
    base = memory_state(uop)
    return (uop.shape, base.arg, base.dtype, base.src[1]) if base.op is Ops.BUFFER else None


def _map(structure: Any, change: Callable[[Any], Any], leaf: type | None = None) -> Any:
    """The same structure of lists, tuples and dicts with every Tensor (or `leaf`) changed."""
    if structure is None:
        return None
    if isinstance(structure, (list, tuple)):
        parts = [_map(x, change, leaf) for x in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {key: _map(x, change, leaf) for key, x in structure.items()}
    if isinstance(structure, leaf) if leaf is not None else _is_tensor(structure):
        return change(structure)
    raise JitError(
        f"a captured function can return Tensors, and lists, tuples and dicts of them, but not "
        f"{type(structure).__name__}: that would stay the same in every replay"
    )


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Runs that follow each other as one, up to where a Variable changes its value."""
    items: list[ScheduleItem] = []
    var_vals: dict[UOp, int] = {}
    for more, values in runs:
        if any(var_vals.get(var, value) != value for var, value in values.items()):
            yield items, var_vals
            items, var_vals = [], {}
        items, var_vals = items + more, var_vals | values
    yield items, var_vals


def _leaves(structure: Any) -> list[UOp]:
    found: list[UOp] = []
    _map(structure, found.append, UOp)
    return found


def _realize(result: Any, more: list[TensorBase]) -> None:
    """Computes every Tensor in a result, and some more, in one schedule."""
    tensors = list(more)

    def collect(x: Any) -> None:
        if isinstance(x, (list, tuple)):
            for part in x:
                collect(part)
        elif isinstance(x, dict):
            collect(list(x.values()))
        elif _is_tensor(x):
            tensors.append(x)

    collect(result)
    if tensors:
        tensors[0].realize(*tensors[1:])


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor_class())


@functools.cache
def _tensor_class() -> type[TensorBase]:
    from tinyframe.tensor.core import Tensor

    return Tensor


def _bound_in(args: tuple, kwargs: Mapping[str, Any]) -> dict[UOp, UOp]:
    """The BIND of each Variable that the arguments depend on, the shapes of Tensors included."""
    from tinyframe.schedule import bindings

    given = [value.uop if _is_tensor(value) else value for _, value in _walk(args, kwargs)]
    return bindings([value for value in given if isinstance(value, UOp)])


def _sizes(args: tuple, kwargs: Mapping[str, Any]) -> list[Signature]:
    """The arguments that are Variables, or computed from them."""
    given = _walk(args, kwargs)
    return [Signature(place, _unbound(value)) for place, value in given if isinstance(value, UOp)]


def _unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})


def _buffer_under(uop: UOp) -> UOp:
    return uop.base


def _signature(place: str, tensor: TensorBase) -> Signature:
    base = _buffer_under(tensor.uop)
    anonymous = base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))
    if tensor.uop is base:
        return Signature(place, anonymous)
    return Signature(place, _unbound(tensor.uop.substitute({base: anonymous})))


def _pending_assigns() -> dict[UOp, TensorBase]:
    """Every ASSIGN that a live Tensor waits for, with such a Tensor."""
    from tinyframe.tensor.base import live_tensors

    pending: dict[UOp, TensorBase] = {}
    for tensor in live_tensors():
        for u in tensor.uop.toposort(gate=lambda u: u.op is not Ops.KERNEL):
            if u.op is Ops.ASSIGN and u.src[1].op is not Ops.KERNEL:
                pending[u] = tensor
    return pending


def _names(variables: Iterable[UOp]) -> str:
    return _list(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))


def _list(names: Any) -> str:
    return ", ".join(names) or "nothing"
