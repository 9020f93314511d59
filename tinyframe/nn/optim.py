"""Optimizers: from a parameter and its gradient to the parameter's next value.

    optimizer = Adam(nn.state.get_parameters(model), lr=1e-3)
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step()

Each optimizer is a table of settings, slots for its state, and a formula. The state (momentum, the
number of steps) and the learning rate are Tensors that are assigned to, so that a step replayed by
TinyJit counts and follows a schedule like any other. The parameters and state of one step are
realized together.

Half and bfloat16 parameters are updated in float32, and rounded at the end.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from tinyframe.dtype import DType, dtypes, least_upper_dtype
from tinyframe.errors import GradientError
from tinyframe.nn.initial import kept
from tinyframe.nn.layer import bound, signature_of
from tinyframe.peer_settings import no_names
from tinyframe.tensor.base import all_or_nothing
from tinyframe.tensor.core import Tensor

__getattr__ = no_names(__name__)


class Optimizer:
    """The base of all optimizers. A subclass has four parts: `settings` with their defaults, in the
    order of the constructor; `slots`, the names of its state per parameter; `counts`, whether the
    formula needs `t`, the number of a parameter's steps; and the formula, `_next`.

    `.t` counts all steps, and `.missed` for each parameter those in which it had no gradient: 0, a
    constant, as long as there are none. So one kernel counts for all.

    params: Tensors, without duplicates. `requires_grad` is turned on if it is None. `.params` has
    those that require a gradient, `.buffers` the others (a BatchNorm's running statistics), which a
    step realizes too. A parameter without a gradient is not changed.

    lr: the learning rate, a Tensor of shape (); `optimizer.lr = 0.1` writes a number into it. The
    other settings are attributes too. ValueError if one is negative.
    """

    settings: ClassVar[dict[str, Any]] = {"lr": 0.001}
    # Each is a list of one Tensor per parameter; empty if the setting it depends on is off.
    slots: ClassVar[dict[str, str | None]] = {}
    counts: ClassVar[bool] = False
    decoupled_weight_decay: bool = False

    def __init_subclass__(cls) -> None:
        if cls.__init__ is Optimizer.__init__:
            cls.__signature__ = signature_of(cls.settings, "params")  # what help() shows

    def __init__(self, params: Iterable[Tensor], *args: Any, **kwargs: Any):
        kwargs.pop("fused", None)  # tinygrad's: here a step is scheduled as a whole anyway
        signature = signature_of(self.settings, "params")
        given = bound(type(self).__name__, signature, params, *args, **kwargs)
        settings = {
            name: _checked(given[name], name, usual) for name, usual in self.settings.items()
        }
        unique = list({id(tensor): tensor for tensor in list_of_tensors(params)}.values())
        for tensor in unique:
            if tensor.requires_grad is None:
                tensor.requires_grad = dtypes.is_float(tensor.dtype)
        self.params = [tensor for tensor in unique if tensor.requires_grad]
        self.buffers = [tensor for tensor in unique if not tensor.requires_grad]
        if not self.params:
            raise ValueError(
                f"none of the {len(unique)} Tensors given requires a gradient: there is nothing to "
                "optimize"
            )
        self.device = self.params[0].device
        # float64 only if a parameter has it
        self._dtype = least_upper_dtype(dtypes.float32, *[tensor.dtype for tensor in self.params])
        self._lr = kept(settings.pop("lr"), (), self._dtype, self.device)
        self.initial_lr: float | None = None  # the base of schedules, set by the first one
        vars(self).update(settings)
        if self.counts:
            self.t = kept(0, (), self._dtype, self.device)
            self.missed = [
                Tensor.zeros((), dtype=self._wide(t), device=t.device, requires_grad=False)
                for t in self.params
            ]
        for slot, setting in self.slots.items():
            owners: list[Any] = self.params if setting is None or getattr(self, setting) else []
            setattr(self, slot, [kept(0.0, t.shape, self._wide(t), t.device) for t in owners])
        self._prepare()

    def _prepare(self) -> None:
        """Further checks and state of a subclass."""

    if TYPE_CHECKING:
        # the settings and slots of a subclass
        __signature__: ClassVar[inspect.Signature]

        def __getattr__(self, name: str) -> Any: ...

    @property
    def lr(self) -> Tensor:
        """The current learning rate."""
        return self._lr

    @lr.setter
    def lr(self, lr: Tensor | float) -> None:
        # At once: a step replayed by a TinyJit reads the memory, not the graph.
        new = lr.cast(self._dtype) if isinstance(lr, Tensor) else _checked(lr, "lr", 0.001)
        self._lr.assign(new).realize()

    def zero_grad(self) -> None:
        """Drops the gradients: `.grad` is None afterwards."""
        for tensor in self.params:
            tensor.grad = None

    def step(self) -> None:
        """One step of optimization. GradientError if no parameter has a gradient."""
        Tensor.realize(*all_or_nothing(self.schedule_step))

    def schedule_step(self) -> list[Tensor]:
        """The Tensors that `step` realizes: `loss.realize(*optimizer.schedule_step())`."""
        if all(tensor.grad is None for tensor in self.params):
            raise GradientError(
                f"step() of {len(self.params)} parameters, and none has a gradient: call "
                "loss.backward() first"
            )
        # Parameters and slots are stored before the first step, which would otherwise start from
        # zeros or random bits, and need kernels that no later step has.
        held = [value for name, value in vars(self).items() if name != "buffers"]
        lists = [value if isinstance(value, list) else [value] for value in held]
        Tensor.realize(*[t for values in lists for t in values if isinstance(t, Tensor)])
        changed = [self._set(self.t, self.t + 1)] if self.counts else []
        for number, tensor in enumerate(self.params):
            if tensor.grad is not None:
                wide = self._wide(tensor)
                g, p = tensor.grad.detach().cast(wide), tensor.detach().cast(wide)
                slots = {s: getattr(self, s)[number] for s in self.slots if getattr(self, s)}
                changed += [tensor, *slots.values()]
                if self.counts:
                    slots["t"] = _beside(self.t, p) - self.missed[number]
                self._set(tensor, self._next(p, g, _beside(self._lr, p), **slots))
            elif self.counts:
                changed.append(self._set(self.missed[number], self.missed[number] + 1))
        return [*changed, self._lr, *self.buffers]

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, *args: Any, **slots: Any) -> Tensor:
        """The formula: the next value of a parameter p with gradient g. The Tensors of slots, which
        `_set` writes to, and t are arguments by name."""
        raise NotImplementedError(f"{type(self).__name__} has to define _next")

    # ---- helpers of formulas ---------------------------------------------------------------------

    def _wide(self, tensor: Tensor) -> DType:
        return least_upper_dtype(tensor.dtype, dtypes.float32)

    def _set(self, tensor: Tensor, value: Tensor) -> Tensor:
        """Assigns; returns the Tensor assigned to."""
        return tensor.assign(value.cast(tensor.dtype))

    def _decayed(self, p: Tensor, g: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
        """Weight decay: of the parameter itself if decoupled, else through the gradient of the
        penalty weight_decay/2 * |p|²."""
        if self.decoupled_weight_decay:
            return p * (1 - rate * self.weight_decay), g
        return p, g + self.weight_decay * p if self.weight_decay else g


def _beside(number: Tensor, value: Tensor) -> Tensor:
    """A Tensor of shape () with the dtype and device of a parameter's value."""
    return number.detach().to(value.device).cast(value.dtype)


def list_of_tensors(tensors: Any) -> list[Tensor]:
    """What an optimizer or a clipping is given; TypeError unless these are Tensors."""
    is_list = isinstance(tensors, Iterable) and not isinstance(tensors, Tensor)
    found = list(tensors) if is_list else []
    kinds = {type(one).__name__ for one in found if not isinstance(one, Tensor)}
    if kinds or not is_list:
        named = type(tensors).__name__ + f" of {', '.join(sorted(kinds))}" * bool(kinds)
        raise TypeError(
            f"an optimizer takes a list of Tensors, not {named}: nn.state.get_parameters(model) "
            "has those of a model, and a single one is given as [parameter]"
        )
    return found


def _checked(value: Any, name: str, usual: Any) -> Any:
    """A setting; TypeError for none of a number's kind if it usually has one, ValueError if a
    number is negative, or a decay rate 1 or more."""
    if isinstance(usual, (int, float)) and not isinstance(value, (numbers.Real, Tensor)):
        kind = type(value).__name__
        raise TypeError(f"{name} is a number, such as {usual}, not {value!r} of type {kind}")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    number = float(value)
    if name in ("b1", "b2") and not 0 <= number < 1:
        raise ValueError(f"{name} is from 0 to below 1, not {value}")
    if not number >= 0:
        raise ValueError(f"{name} is 0 or more, not {value}")
    return value if isinstance(value, int) else number


class OptimizerGroup(Optimizer):
    """Several optimizers as one, for parameters that need different rules.

        OptimizerGroup(Muon(matrices), AdamW(others))

    `.lr` is that of the first; `group[1].lr` that of the second.
    """

    def __init__(self, *optimizers: Optimizer):
        if not optimizers:
            raise ValueError("OptimizerGroup needs at least one optimizer")
        self.optimizers = optimizers
        self.params = [tensor for optimizer in optimizers for tensor in optimizer.params]
        self.buffers = [tensor for optimizer in optimizers for tensor in optimizer.buffers]
        first = optimizers[0]
        self._lr, self.initial_lr, self._dtype = first._lr, first.initial_lr, first._dtype
        self.device = first.device

    def __getitem__(self, number: int) -> Optimizer:
        return self.optimizers[number]

    def schedule_step(self) -> list[Tensor]:
        """The Tensors that all of them realize."""
        steps = [optimizer.schedule_step() for optimizer in self.optimizers]
        return [tensor for step in steps for tensor in step]


# ---- gradient descent with momentum --------------------------------------------------------------


class SGD(Optimizer):
    """Gradient descent, with momentum.

        m = momentum * m + g
        p = p - lr * m

    weight_decay: adds weight_decay * p to the gradient. nesterov: looks ahead,
    p - lr * (g + momentum * m). classic: the learning rate goes into m instead, m = momentum * m +
    lr * g, which differs while the learning rate changes.

    Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013).
    """

    settings = {
        "lr": 0.001, "momentum": 0.0, "weight_decay": 0.0, "nesterov": False, "classic": False
    }  # fmt: skip
    slots = {"b": "momentum"}

    def _prepare(self) -> None:
        if self.nesterov and not self.b:
            raise ValueError("nesterov needs momentum, which is 0")

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, b: Tensor | None = None) -> Tensor:
        p, g = self._decayed(p, g, rate)
        return self._descend(p, g, rate, b)

    def _descend(self, p: Tensor, g: Tensor, rate: Tensor, b: Tensor | None) -> Tensor:
        if self.classic:
            g, rate = g * rate, rate.ones_like()
        if b is not None:
            b = self._set(b, b * self.momentum + g)
            g = g + self.momentum * b if self.nesterov else b
        return p - rate * g


class LARS(SGD):
    """SGD with a separate rate for each parameter, for training with large batches.

    The learning rate is multiplied by tcoef * |p| / (|g| + weight_decay * |p|), where neither is 0.
    You, Gitman and Ginsburg, "Large batch training of convolutional networks" (2017).
    """

    settings = {
        **SGD.settings, "momentum": 0.9, "weight_decay": 1e-4, "classic": True, "tcoef": 0.001
    }  # fmt: skip

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, b: Tensor | None = None) -> Tensor:
        size, slope = _norm(p), _norm(g)
        trust = self.tcoef * size / (slope + self.weight_decay * size)
        trust = ((size > 0) & (slope > 0)).where(trust, 1.0)
        return self._descend(p, g + self.weight_decay * p, rate * trust, b)


def _norm(x: Tensor) -> Tensor:
    return x.square().sum().sqrt()


# ---- the Adam family -----------------------------------------------------------------------------


class Adam(Optimizer):
    """Steps of about lr for every element, whatever the scale of its gradient.

        m = b1 * m + (1 - b1) * g                 the mean of g
        v = b2 * v + (1 - b2) * g * g             the mean of its square
        p = p - lr * m' / (sqrt(v') + eps)        m' = m / (1 - b1 ** t), v' = v / (1 - b2 ** t)

    Both means start at 0; the division by 1 - b ** t corrects that bias in the first steps.
    weight_decay: adds weight_decay * p to the gradient.

    Kingma and Ba, "Adam: a method for stochastic optimization" (2015).
    """

    settings = {"lr": 0.001, "b1": 0.9, "b2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
    slots, counts = {"m": None, "v": None}, True

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, m: Tensor, v: Tensor, t: Tensor) -> Tensor:
        p, g = self._decayed(p, g, rate)
        return p - rate * self._direction(g, m, v, t)

    def _direction(self, g: Tensor, m: Tensor, v: Tensor, t: Tensor) -> Tensor:
        """m' / (sqrt(v') + eps), with both means updated."""
        m = self._set(m, m * self.b1 + g * (1 - self.b1))
        v = self._set(v, v * self.b2 + g.square() * (1 - self.b2))
        return m / _grown(self.b1, t) / ((v / _grown(self.b2, t)).sqrt() + self.eps)


def _grown(decay: float, t: Tensor) -> Tensor:
    """1 - decay ** t, to the last digit: 1 - 0.999 would lose three of seven digits."""
    return -(t * math.log(decay)).expm1() if decay else t.ones_like()


class AdamW(Adam):
    """Adam with decoupled weight decay: p * (1 - lr * weight_decay), not through the gradient.

    Loshchilov and Hutter, "Decoupled weight decay regularization" (2019).
    """

    settings = {**Adam.settings, "weight_decay": 0.01}
    decoupled_weight_decay = True


class LAMB(Adam):
    """AdamW with steps scaled to the norm of the parameter, for training with large batches.

    The direction, weight decay included, is multiplied by |p| / |direction| unless one is 0.
    You et al., "Large batch optimization for deep learning" (2020).
    """

    settings = {**Adam.settings, "eps": 1e-6}

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, m: Tensor, v: Tensor, t: Tensor) -> Tensor:
        direction = self._direction(g, m, v, t) + self.weight_decay * p
        size, length = _norm(p), _norm(direction)
        trust = ((size > 0) & (length > 0)).where(size / length, 1.0)
        return p - rate * trust * direction


# ---- Muon ----------------------------------------------------------------------------------------


class Muon(Optimizer):
    """For matrices: orthogonalized momentum, so that a step moves equally in all directions.

        m = momentum * m + (1 - momentum) * g
        p = p - lr * weight_decay * p - lr * sqrt(max(1, rows / columns)) * orthogonal(m)

    A convolution kernel counts as a matrix with out_channels rows. ValueError for vectors (biases,
    norms), which need a different optimizer, as embeddings do: see OptimizerGroup.

    Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024).
    """

    settings = {
        "lr": 0.001, "momentum": 0.95, "weight_decay": 0.1, "ns_steps": 5,
        "ns_coefficients": (3.4445, -4.775, 2.0315), "nesterov": True, "eps": 1e-7,
    }  # fmt: skip
    slots = {"b": None}
    decoupled_weight_decay = True

    def _prepare(self) -> None:
        for tensor in self.params:
            if tensor.ndim < 2:
                raise ValueError(
                    f"Muon is for matrices, not for a parameter of shape {tensor._dims}: "
                    "OptimizerGroup(Muon(matrices), AdamW(others))"
                )

    def _next(self, p: Tensor, g: Tensor, rate: Tensor, b: Tensor) -> Tensor:
        p, g = self._decayed(p, g, rate)
        b = self._set(b, b + (g - b) * (1 - self.momentum))
        if self.nesterov:
            b = b - (b - g) * (1 - self.momentum)
        matrix = orthogonalized(b.flatten(1), self.ns_steps, self.ns_coefficients, self.eps)
        rows, columns = matrix.shape
        scale = math.sqrt(max(1, rows / columns))
        return p - rate * scale * matrix.cast(p.dtype).reshape(p.shape)


def orthogonalized(
    matrix: Tensor, steps: int, coefficients: tuple[float, float, float], eps: float
) -> Tensor:
    """Approximately the nearest orthogonal matrix: U @ V.T for U @ diag(s) @ V.T, in bfloat16.

    Each step of this Newton-Schulz iteration maps every singular value s to
    a*s + b*s**3 + c*s**5; with Muon's coefficients they end up between 0.5 and 1.5, which is good
    enough. So little accuracy is needed that all steps round to bfloat16, as in PyTorch.
    """
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = _rounded(matrix.T if tall else matrix)
    size = _rounded(_norm(x)).maximum(_rounded(x.full_like(eps).max()))
    x = _rounded(x / size)
    for _ in range(steps):
        gram = _rounded(x @ x.T)
        x = _rounded(a * x + _rounded(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


def _rounded(x: Tensor) -> Tensor:
    """Rounded to bfloat16, in float32."""
    return x.cast(dtypes.bfloat16).cast(dtypes.float32)
