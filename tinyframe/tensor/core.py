"""Tensor: a shape, a dtype, and the graph that computes its values.

Nothing is computed until you ask for it:

    >>> a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    >>> c = a * b + 1          # three nodes on a graph, no arithmetic yet
    >>> c.tolist()             # realize(): schedule, compile, run; then copy out
    [4.0, 9.0]

Afterwards every Tensor whose graph contained the computed part points at the buffer with the
result. So nothing is computed twice, and Tensors that shared a graph still share one.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tinyframe.device import Buffer, Device, buffer_of, is_awaited
from tinyframe.dtype import DTypeLike, dtypes, to_dtype, to_np_dtype
from tinyframe.errors import AssignError, DTypeError, GradientError, SingleElementError
from tinyframe.run.capture import UNREAD, capture_now, needs_value
from tinyframe.run.realize import running, settle
from tinyframe.settings import Context, settings
from tinyframe.tensor import dlpack
from tinyframe.tensor.activation import Activation
from tinyframe.tensor.arrangement import Arrangement
from tinyframe.tensor.base import (
    NoGrad,
    Storage,
    TensorBase,
    all_or_nothing,
    follow,
    is_grad_enabled,
    is_one_to_one,
    live_tensors,
    note_change,
    references_to,
    shows_all,
    storages_at,
)
from tinyframe.tensor.casting import Casting
from tinyframe.tensor.convolution import Convolution
from tinyframe.tensor.creation import Creation, uop_of
from tinyframe.tensor.gradient import (
    STORED_BOTH_WAYS,
    below_with_history,
    compute_gradient,
    is_cut_off,
    lost_below,
    put_back,
    readable,
    values_of_storages,
    with_part,
)
from tinyframe.tensor.history import CUT_OFF, Origin, before_writes, has_history, origin_of
from tinyframe.tensor.indexing import Indexing
from tinyframe.tensor.laziness import (
    InPlacePlan,
    Scheduled,
    compute,
    is_computed,
    is_moved,
    is_stored,
    unrealized,
    update_references,
    whole_buffer,
)
from tinyframe.tensor.losses import Losses
from tinyframe.tensor.more.counting import Counting
from tinyframe.tensor.more.interpolate import Interpolate
from tinyframe.tensor.more.linalg import LinearAlgebra
from tinyframe.tensor.more.special import Special
from tinyframe.tensor.movement import Movement, broadcast_shapes
from tinyframe.tensor.neural import Neural
from tinyframe.tensor.pooling import Pooling
from tinyframe.tensor.random import Random
from tinyframe.tensor.reduce import Reduce
from tinyframe.tensor.scan import Scan
from tinyframe.tensor.sorting import Sorting
from tinyframe.uop.evaluate import sym_infer
from tinyframe.uop.movement import memory_of
from tinyframe.uop.node import Ops, UOp, upper
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.schedule.kernels import ScheduleItem


class Tensor(
    Indexing,
    Arrangement,
    Counting,
    LinearAlgebra,
    Sorting,
    Scan,
    Special,
    Creation,
    Random,
    Activation,
    Reduce,
    Casting,
    Movement,
    Convolution,
    Pooling,
    Interpolate,
    Losses,
    Neural,
):
    """An n-dimensional array whose operations are lazy, and differentiable.

    data: a number, (nested) lists of numbers, bytes (uint8), an array of NumPy or another library
        (which keeps its dtype, and is copied), None (empty), or a graph. Ints become int32 and
        floats float32, unless `dtype` is given.
    device: a name such as "CPU"; the default device where it is None.
    requires_grad: whether `backward()` gives it a `.grad`.
    """

    def __init__(
        self,
        data: Any,
        device: str | None = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ):
        uop = uop_of(data, None if dtype is None else to_dtype(dtype), Device.named(device))
        self._storage, self._path, self._seen = Storage(uop), (), None
        self._read = self._grad = None
        self._requires_grad = None
        self._register()
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        uop = self.uop
        is_there = uop.op is Ops.BUFFER and not is_awaited(uop)
        state = uop.op, buffer_of(uop) if is_there and buffer_of(uop).is_allocated() else None
        graph = f"<UOp {self.device} {sizes_text(self.shape)} {str(self.dtype)[7:]} {state}>"
        grad = None if self.grad is None else self.grad.uop
        return f"<Tensor {graph} on {self.device} with grad {grad!r}>"

    # ---- shape and size --------------------------------------------------------------------------

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[self._axis(dim)]

    def numel(self) -> Any:
        """The number of elements."""
        return self._count(None)

    @property
    def max_shape(self) -> tuple[int, ...]:
        """The shape with every Variable at its largest: the shape of the memory."""
        return tuple(map(upper, self.shape))

    def max_numel(self) -> int:
        """The largest number of elements: that of `max_shape`."""
        return math.prod(self.max_shape)

    def element_size(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements together."""
        return self.numel() * self.element_size()

    def is_floating_point(self) -> Any:
        """Whether the dtype is a float."""
        return dtypes.is_float(self.dtype)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a Tensor of shape ()")
        return operator.index(self.shape[0])

    def __iter__(self) -> Iterator[Self]:
        return (self[number] for number in range(len(self)))

    def __bool__(self) -> Any:
        raise TypeError(
            "a Tensor is not True or False: `==` compares element by element, and lazily. Take a "
            "value out first, with .item(), or .all().item()"
        )

    def __contains__(self, value: Any) -> Any:
        raise TypeError("`in` is not defined for Tensors; use (t == value).any().item()")

    # NumPy leaves `array + tensor` to the Tensor
    __array_ufunc__ = None

    # ---- computing -------------------------------------------------------------------------------

    def realize(self, *others: Tensor) -> Self:
        """Computes this Tensor and others; returns this one. `Tensor.realize(a, b)` works too."""
        compute([self._storage, *[other._storage for other in others]])
        return self

    def schedule(self, *others: Tensor) -> list[ScheduleItem]:
        """The kernels that realize() would run, as ScheduleItems with `.ast` and `.bufs`.

        From now on the Tensors point at the buffers of the results. If a value is needed before
        all items have been run (`run_schedule`), the remaining ones are run first.
        """
        with running:
            if not (roots := unrealized(self, *others)):
                return []
            settle()
            scheduled = Scheduled(roots)
            scheduled.publish()
            return scheduled.items

    def kernelize(self, *others: Tensor) -> Self:
        """Splits the graph into kernels; `t.uop` is then ASSIGN(BUFFER, KERNEL), and
        `t.uop.src[1].arg.ast` the kernel's graph."""
        if roots := unrealized(self, *others):
            from tinyframe.schedule import kernelize

            placed = InPlacePlan(roots)
            update_references(placed.becomes(kernelize(UOp.sink(*placed.roots))))
        return self

    # ---- data out --------------------------------------------------------------------------------

    def _buffer(self) -> Buffer:
        """The Buffer with the elements of this Tensor in order, computed if necessary. It has no
        other elements, except after these if the shape is symbolic."""
        needs_value("reading a Tensor's values")
        settle()
        graph = self.uop
        if self._read is not None and self._read[0] is graph:
            return buffer_of(self._read[1])
        if not is_computed(graph) and graph.size <= graph.base.size and is_moved(graph):
            # A kernel result, permuted: store it in this order right away.
            stored = self._of(graph.contiguous(), False).realize().uop
            graph = self.uop  # parts of it may be computed now
            if not self._path:
                update_references({graph: stored})
            elif shows_all(self._path):  # then every view of the storage can be derived from this
                update_references({self._storage.uop: _backwards(graph, self._storage.uop, stored)})
            whole = whole_buffer(stored)
            assert whole is not None
            self._read = self.uop, whole
        else:
            self.realize()
            whole = whole_buffer(self.uop)
        if whole is None:  # a constant, or a view of a buffer
            whole = whole_buffer(self._of(self.uop.contiguous(), False).realize().uop)
            assert whole is not None
        return buffer_of(whole)

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array of the same shape and dtype; bfloat16 as float32.

        A symbolic shape is evaluated for the values that its Variables are bound to.
        """
        shape = tuple(sym_infer(size, {}) for size in self.shape)
        if 0 in shape:
            return np.empty(shape, to_np_dtype(self.dtype) or np.float32)
        return self._buffer().numpy()[: math.prod(shape)].reshape(shape).copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, *, copy: bool | None = None, **options: Any) -> Any:
        """A DLPack capsule with a copy of the elements, as `torch.from_dlpack(t)` takes it.

        The copy belongs to the receiver: changes on one side don't show on the other.
        BufferError for copy=False.
        """
        if copy is False:
            raise BufferError("a Tensor never shares its memory: __dlpack__ always copies")
        x = self.bitcast(dtypes.uint16) if self.dtype is dtypes.bfloat16 else self
        return dlpack.exported(x.numpy(), self.dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU

    @classmethod
    def from_dlpack(cls, data: Any, device: str | None = None) -> Self:
        """A copy of another library's array (a PyTorch tensor, a JAX array), in its shape and
        dtype. The constructor takes such an array too.

        TypeError if it has no `__dlpack__`.
        """
        if not hasattr(data, "__dlpack__"):
            kind = type(data).__name__
            raise TypeError(f"from_dlpack takes an object with __dlpack__, not {kind}")
        return cls(data, device)

    def data(self) -> memoryview:
        """A copy as a memoryview of the same shape and format."""
        return self.numpy().data

    def tolist(self) -> Any:
        """A copy as nested lists of Python numbers; a single number for shape ()."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The only element as a Python number; SingleElementError if there are others."""
        return self._scalar("item")

    def _scalar(self, kind: str) -> Any:
        if not isinstance(self.numel(), int) or self.numel() != 1:
            raise SingleElementError(
                f"{kind}() needs a Tensor of one element, not of shape {sizes_text(self.shape)}"
            )
        return self.numpy().item()

    # There is no __index__: a Tensor would pass for an axis or a size, and `x.max(y)`, meant as the
    # elementwise maximum, would be the maximum along axis y.

    def __float__(self) -> Any:
        return float(self._scalar("float"))

    def __int__(self) -> Any:
        return int(self._scalar("int"))

    def __format__(self, spec: str) -> str:
        """`f"{loss:.3f}"` formats the only element; without a format it is `str`."""
        return format(self._scalar("format"), spec) if spec else str(self)

    # ---- memory ----------------------------------------------------------------------------------

    def contiguous(self) -> Self:
        """The elements in memory, in order: already there, or stored there by realize()."""
        return self._apply(lambda x: x if is_stored(x) else x.contiguous())

    def contiguous_backward(self) -> Self:
        """The elements in memory, and the gradient too, on its way back. Otherwise a gradient that
        flows through a long chain of steps is recomputed in each of them."""
        return self._apply(lambda x: x.contiguous().replace(tag=STORED_BOTH_WAYS))

    def fuse(self) -> Self:
        """The same values, computed in one kernel together with everything they depend on.

        No intermediate value is stored (except where `contiguous()` or an assignment says so): one
        that is used several times is computed several times, which can be far slower.
        """
        return self._apply(UOp.fuse)

    def to(self, device: str | None) -> Self:
        """A copy on another device; this Tensor if it is there already."""
        name = Device.named(device)
        return self if name == self.device else self._apply(lambda x: x.copy_to_device(name))

    def to_(self, device: str | None) -> Self:
        """Moves this Tensor, and its gradient, to another device."""
        if self.grad is not None:
            self.grad.to_(device)
        return self.replace(self.to(device))

    def clone(self, device: str | None = None) -> Self:
        """A copy in memory of its own, on the same device or another."""
        other = self if device is None else self.to(device)
        return self._apply(UOp.contiguous) if other is self else other

    def replace(self, other: Tensor) -> Self:
        """Gives this Tensor the value of another one of the same shape, and returns it.

        If it was a view it no longer is one; views of it keep their values.
        """
        if self.shape != other.shape:
            raise AssignError(f"cannot replace a Tensor of {self._dims} by one of {other._dims}")
        with running:
            views = [t for t in live_tensors() if t._storage is self._storage and t is not self]
            if views or self._path:
                self._storage = Storage(other.uop, self._storage.may_need_grad)
                self._path, self._seen = (), None
            else:
                self._storage.assign(other.uop)
        return self

    def assign(self, value: Any) -> Self:
        """Overwrites this Tensor, and so every view of the same memory, with `value`; returns it.

        The value broadcasts to this shape, and must have this dtype. Like everything else it is
        computed by realize(), in place if nothing needs the old values any more. Expressions built
        before the assignment keep the old values, whenever they are computed. AssignError if a view
        shows elements more than once (expand), or padding.
        """
        other = value if isinstance(value, TensorBase) else type(self)(
            value, self.device, None if hasattr(value, "dtype") else self.dtype
        )  # fmt: skip
        if other.dtype is not self.dtype:
            raise AssignError(f"assign dtype mismatch: {self.dtype} and {other.dtype}")
        if broadcast_shapes(self.shape, other.shape) != self.shape:
            raise AssignError(f"assign shape mismatch: {other._dims} does not fit in {self._dims}")
        if other.device != self.device:
            raise AssignError(f"assign device mismatch: {self.device} and {other.device}")
        new = other._broadcast_to(self.shape).uop
        # Two Tensors that are equal now may not be when a captured call is replayed.
        if new is self.uop and (other._storage is self._storage or capture_now() is None):
            return self
        self._change(new, other._requires_grad)
        return self

    def _change(
        self, value: UOp, requires_grad: bool | None, at: tuple[int, UOp] | None = None
    ) -> None:
        """Writes `value` into the part of the storage that this Tensor shows.

        at: an axis and positions along it, in the shape of the value, to which it is written.
        requires_grad: that of the value. A parameter that is written to starts afresh: no gradient
        flows back to the value. What is written under `no_grad()`, or through `detach()`, changes
        numbers only: gradients flow on to what the Tensor was computed from, as before.
        """
        path, storage = self._path, self._storage
        is_whole = at is None and shows_all(path)
        if 0 in self.shape:
            return
        if not is_one_to_one(path):
            raise AssignError(
                f"cannot assign to this view of shape {self._dims}: it shows some elements more "
                "than once (as expand() and overlapping windows do), or places that are not in "
                "memory (as for a Variable whose bounds lead outside: narrow them). Assign to the "
                "Tensor that it is a view of, or make it a Tensor of its own with clone()"
            )
        root, is_parameter = storage.uop, storage.is_parameter
        is_detached = any(op is Ops.DETACH for op, _ in path)
        if requires_grad and is_grad_enabled() and not is_parameter:
            if is_detached:
                raise AssignError(
                    "a value that requires a gradient cannot be written to a detached Tensor, "
                    "through which none flows back: write to the Tensor that it was detached from, "
                    "or write value.detach()"
                )
            self._requires_grad = True
        is_hidden = is_detached or is_parameter or not is_grad_enabled()
        keeps = is_hidden and not is_parameter and has_history(storage)
        if is_hidden and not keeps and not is_whole:
            root = root.detach()
        view = follow(tuple([step for step in path if step[0] is not Ops.DETACH]), root)
        memory = memory_of(root)
        if at is not None:
            view = view.take(*at)
        if is_whole:
            value, view = _backwards(view, root, value), root
        elif memory is None:
            value, view = with_part(root, view, value), root
        if is_hidden:
            # the number keeps it apart from any other detach() of the same value
            src = (value, view) if keeps else (value,)
            value = UOp(Ops.DETACH, value.dtype, src, tag=Storage.next_number())
            if keeps and memory is None:  # a BUFFER has one history, and the value may have its own
                value = value.contiguous()
        if memory is not None:  # all of the memory, with this part changed
            part = () if view is root else (view,)
            value = UOp(Ops.ASSIGN, root.dtype, (root, value, *part))
        storage.assign(value)

    # ---- copies and files ------------------------------------------------------------------------

    # copy.copy() gives a second Tensor on the same memory: each sees what is written to the other.
    # copy.deepcopy() and pickle copy the values (base.py); memory that Tensors share is copied
    # once, so that the copies share it too.

    def __copy__(self) -> Self:
        other = self._seeing(self._storage, self._path, self._requires_grad)
        other.grad = self.grad
        return other

    def __deepcopy__(self, memo: dict) -> Self:
        if self._requires_grad and (self._path or not self._storage.is_parameter):
            raise GradientError(
                "deepcopy() of a Tensor that is computed from parameters would lose its history: "
                "detach() it first, or use clone(), through which gradients flow"
            )
        other = self._seeing(copy.deepcopy(self._storage, memo), self._path, self._requires_grad)
        memo[id(self)] = other
        other.grad = copy.deepcopy(self.grad, memo)
        return other

    def __getstate__(self) -> Any:
        return self._storage, self._path, self._requires_grad, self.grad

    def __setstate__(self, state: Any) -> None:
        self._storage, self._path, self._requires_grad, self.grad = state
        self._seen = self._read = None
        self._register()

    # ---- gradients -------------------------------------------------------------------------------

    @property
    def grad(self) -> Self | None:
        """The gradient that backward() has accumulated, in this shape; None before the first, and
        after zero_grad()."""
        if (capture := capture_now()) is not None:
            capture.note_grad(self, self._grad)
        return self._grad

    @grad.setter
    def grad(self, grad: Self | None) -> None:
        if (capture := capture_now()) is not None:
            capture.note_grad(self, UNREAD)
        self._grad = grad

    @property
    def requires_grad(self) -> bool | None:
        """Whether backward() gives this Tensor a `.grad`; None while that is undecided.

        DTypeError if it is set to True and the dtype is not a float.
        """
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, requires_grad: bool | None) -> None:
        if requires_grad and not dtypes.is_float(self.dtype):
            raise DTypeError(f"only a Tensor of floats can require a gradient, not {self.dtype}")
        self._requires_grad = requires_grad
        others = [
            r for r in references_to(self.uop) if isinstance(r, Storage) and r is not self._storage
        ]
        if requires_grad and (others or not any(u.op is Ops.BUFFER for u in self.uop.toposort())):
            # Equal graphs are one node, so two parameters that both start as zeros, or as copies
            # of a third, would be one. Memory of its own keeps this one distinct, and the tag keeps
            # its gradient from reaching the others.
            memory = self.empty(self.shape, dtype=self.dtype, device=self.device)
            begins_here = is_computed(self.uop) and not any(map(origin_of, self.uop.toposort()))
            value = self.uop.detach() if begins_here else self.uop.rtag("apart")
            if self._path:
                self.uop = self.uop
            self._storage.point_to(memory.uop.assign(value))
        if not self._path:
            storage, may_need_grad = self._storage, requires_grad is not False
            storage.may_need_grad, storage.is_parameter = may_need_grad, bool(requires_grad)

    @property
    def is_param(self) -> bool:
        """Whether `requires_grad` is True."""
        return self._requires_grad is True

    def requires_grad_(self, requires_grad: bool | None = True) -> Self:
        """Sets `requires_grad`, and returns this Tensor."""
        self.requires_grad = requires_grad
        return self

    def detach(self) -> Self:
        """A view through which no gradient flows; what is written to it changes no gradient."""
        view = self._view(UOp.detach)
        view._requires_grad = False
        return view

    def gradient(
        self, *targets: Tensor, gradient: Tensor | None = None, materialize_grads: bool = True
    ) -> list[Self]:
        """The gradient with respect to each target, in the target's shape and dtype.

        It consists of more nodes on the same graph, so it can be differentiated again. It is 0 if
        this does not depend on the target. Equal nodes are one node, so two Tensors that are both
        `Tensor(2.0)` have one gradient; with requires_grad=True each has its own. gradient: the
        incoming gradient, of this shape; without it this must be a scalar. GradientError if no
        gradient is defined.
        """
        with running:  # nothing is realized while the graph is read
            below = below_with_history(self.uop)
            return self._gradients(targets, gradient, materialize_grads, below)

    def _gradients(
        self,
        targets: Sequence[Tensor],
        gradient: Tensor | None,
        materialize_grads: bool,
        below: dict[UOp, None],
    ) -> list[Any]:
        """gradient(), given all nodes below this Tensor."""
        tensors: tuple[Tensor, ...] = (self, *targets)
        for tensor in tensors:
            if not dtypes.is_float(tensor.dtype):
                raise GradientError(
                    f"only floats have gradients, not a Tensor of {tensor.dtype} "
                    f"(shape {tensor._dims})"
                )
        if gradient is None:
            if self.shape != ():
                raise GradientError(
                    f"the gradient of a Tensor of shape {self._dims} needs to know what flows in: "
                    "reduce it to a scalar, such as with .sum(), or give gradient="
                )
            gradient = self.full((), 1.0, dtype=self.dtype, device=self.device)
            if gradient.uop in below:  # the node of a Tensor(1.0), which may be a target one day
                gradient = gradient.detach()
        elif gradient.shape != self.shape:
            raise GradientError(
                f"gradient= has shape {gradient._dims}, but has to have {self._dims}"
            )
        values = values_of_storages(below)
        # the nodes of each target: its value, and those it had before it was assigned to
        nodes = []
        for t in targets:
            had = values.get(t._storage, ())
            seen = dict.fromkeys(follow(t._path, v) if t._path else before_writes(v) for v in had)
            nodes.append([node for node in seen if node in below])
        wanted = {node for each in nodes for node in each}
        flowing = compute_gradient(self.uop, gradient.cast(self.dtype).uop, wanted, below)
        if (capture := capture_now()) is not None:
            capture.check_histories(
                u for u in flowing if isinstance(o := origin_of(u), Origin) and o.uop in flowing
            )
        arrived = [[flowing[node] for node in each if node in flowing] for each in nodes]
        lost = lost_below(self.uop, below)
        for target in targets:
            if target._storage in lost:
                raise GradientError(
                    f"the history between this Tensor and one of shape {target._dims} was dropped: "
                    f"{lost[target._storage]}"
                )
        if materialize_grads and not any(arrived):
            if is_cut_off(self.uop, wanted) or any(origin_of(u) is CUT_OFF for u in below):
                raise GradientError(
                    "no gradient flows from this Tensor to any of the targets: what it is computed "
                    "from went through detach() or no_grad(). Leave that out, or take 0 for the "
                    "gradient"
                )
        sums = [functools.reduce(operator.add, grads) for grads in arrived if grads]
        known = iter(readable(sums, self.uop, below))
        result: list[Any] = []
        for target, grads in zip(targets, arrived, strict=True):
            node = next(known) if grads else target.zeros_like().uop
            result.append(self._of(node, False) if grads or materialize_grads else None)
        return result

    def backward(self, gradient: Tensor | None = None) -> Self:
        """Adds the gradient of this to the `.grad` of every Tensor it depends on that requires one.

        Results of such Tensors require one too. Returns this Tensor. GradientError if none requires
        one, or if this is not a scalar and `gradient` is missing.
        """
        asking = (True, None) if settings.ALL_GRADS else (True,)
        with running:  # nothing is realized while the graph is read
            below = below_with_history(self.uop)
            storages = {storage for u in below for storage in storages_at(u)}
            storages.update(lost_below(self.uop, below))
            all_asking = [t for t in live_tensors() if t._requires_grad in asking]
            found = [t for t in all_asking if t._storage in storages]
            wanted = [t for t in found if dtypes.is_float(t.dtype)]
            grads = self._gradients(wanted, gradient, False, below)
        if all(grad is None for grad in grads):
            raise GradientError(
                "backward() found no Tensor to give a gradient to: create one with "
                "requires_grad=True (a comparison, a cast to an int and detach() stop gradients)"
            )
        found = [(t, g) for t, g in zip(wanted, grads, strict=True) if g is not None]
        all_or_nothing(lambda: [tensor._add_to_grad(grad) for tensor, grad in found])
        return self

    def _add_to_grad(self, grad: Self) -> None:
        if self.grad is None:
            note_change(setattr, self, "_grad", None)
            self.grad = grad
        else:
            self.grad.uop = (self.grad + grad).uop

    @staticmethod
    def no_grad(function: Callable[..., Any] | None = None) -> Any:
        """Inside `with Tensor.no_grad():` no result requires a gradient, and none flows through it.
        If an earlier result is written to there, its numbers change, but its gradients do not.

        Also a decorator, `@Tensor.no_grad()` or `@Tensor.no_grad`, of functions and of generators.
        A Tensor created there with requires_grad=True still requires one. It applies to the current
        thread (or asyncio task) only, and does not change `Tensor.training`.
        """
        return NoGrad() if function is None else NoGrad()(function)

    @staticmethod
    def train(mode: bool = True) -> Context:
        """Inside `with Tensor.train():` dropout is active, and BatchNorm updates its statistics.

        Also a decorator. It is `Context(TRAINING=1)`, and so for the current thread only.
        """
        return Context(TRAINING=bool(mode))


# Further names of methods, from PyTorch and NumPy.
ALIASES = {
    "view": "reshape", "ravel": "flatten",
    "is_param_": "requires_grad_",
    "amax": "max", "amin": "min", "negative": "neg", "remainder": "mod", "floor_divide": "floordiv",
    "clamp": "clip", "swish": "silu", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "xavier_uniform": "glorot_uniform",
}  # fmt: skip
for _name, _method in ALIASES.items():
    setattr(Tensor, _name, inspect.getattr_static(Tensor, _method))


def _backwards(view: UOp, root: UOp, value: UOp) -> UOp:
    """The value of a storage, given the value of a view that shows all of it."""
    return put_back(view, root, value).cast(root.dtype)
