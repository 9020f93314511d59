"""Optimizers: from a parameter and its gradient to the parameter's next value.

    optimizer = Adam(nn.state.get_parameters(model), lr=1e-3)
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step()

Each writes its rule as one method, `_next`. All that a rule remembers (momentum, the number of
steps) and the learning rate are Tensors that are assigned to, so that a step replayed by TinyJit
counts and follows a schedule like any other. Parameters and memory of one step are realized
together.

Half and bfloat16 parameters are updated in float32, and rounded at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tinyframe.dtype import DType, dtypes, least_upper_dtype
from tinyframe.errors import GradientError
from tinyframe.nn.initial import kept
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.special import expm1


class Optimizer:
    """What all optimizers share.

    params: Tensors; each counts once. `requires_grad` is turned on where it is None. `.params` has
    those that require a gradient, `.buffers` the others (a BatchNorm's running statistics), which a
    step realizes too. A parameter without a gradient is left as it is.

    lr: the learning rate, a Tensor of shape (); `optimizer.lr = 0.1` writes a number into it.
    """

    # The attribute that OneCycleLR moves against the rate, where a rule has such a one.
    _momentum_name: str | None = None

    def __init__(self, params: Iterable[Tensor], lr: float):
        if isinstance(params, Tensor):
            raise TypeError("an optimizer takes a list of Tensors, so a single one as [parameter]")
        unique = list({id(tensor): tensor for tensor in params}.values())
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
        # The least dtype that is exact enough for all: float64 only where a parameter has it.
        self._dtype = least_upper_dtype(dtypes.float32, *[tensor.dtype for tensor in self.params])
        self._lr = self._keep(_checked(lr, "lr"))
        self.initial_lr: float | None = None  # what a schedule's factors are of; the first one asks
        self._skip: Tensor | None = None

    @property
    def lr(self) -> Tensor:
        """The learning rate now."""
        return self._lr

    @lr.setter
    def lr(self, lr: Tensor | float) -> None:
        # At once: a step that a TinyJit replays reads the memory, and knows of no graph.
        new = lr.cast(self._dtype) if isinstance(lr, Tensor) else _checked(lr, "lr")
        self._lr.assign(new).realize()

    def kept_momentum(self) -> Tensor | None:
        """The momentum (b1 of the Adam family), from now on a Tensor of shape () that a schedule
        can write into; None where there is none."""
        if self._momentum_name is None:
            return None
        momentum = getattr(self, self._momentum_name)
        if not isinstance(momentum, Tensor):
            setattr(self, self._momentum_name, momentum := self._keep(momentum))
        return momentum

    def zero_grad(self) -> None:
        """Forgets the gradients: `.grad` is None afterwards."""
        for tensor in self.params:
            tensor.grad = None

    def step(self, skip: Tensor | None = None) -> None:
        """One step along the gradients. GradientError where no parameter has one.

        skip: a Tensor of one bool; where it is True nothing changes. GradScaler gives it.
        """
        Tensor.realize(*self.schedule_step(skip))

    def schedule_step(self, skip: Tensor | None = None) -> list[Tensor]:
        """What `step` realizes, not realized yet: `loss.realize(*optimizer.schedule_step())`."""
        if all(tensor.grad is None for tensor in self.params):
            raise GradientError(
                f"step() of {len(self.params)} parameters, and none has a gradient: call "
                "loss.backward() first"
            )
        self._settle()
        self._skip, changed = skip, []
        try:
            changed += self._begin()
            for number, tensor in enumerate(self.params):
                if tensor.grad is not None:
                    gradient = tensor.grad.detach().cast(self._wide(tensor))
                    value = tensor.detach().cast(self._wide(tensor))
                    self._set(tensor, self._next(number, value, gradient))
                    changed += [tensor, *[state[number] for state in self._states()]]
        finally:
            self._skip = None
        return [*changed, self._lr, *self.buffers]

    def _settle(self) -> None:
        """Puts parameters and what is remembered in memory before the first step. That would
        otherwise begin from formulas (zeros, random bits), and need kernels that no later one does.
        """
        held = [value for name, value in vars(self).items() if name != "buffers"]
        lists = [value if isinstance(value, list) else [value] for value in held]
        Tensor.realize(*[t for values in lists for t in values if isinstance(t, Tensor)])

    # ---- what an optimizer defines ---------------------------------------------------------------

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        """The next value of parameter `number`, of which `value` is the present one."""
        raise NotImplementedError(f"{type(self).__name__} has to define _next")

    def _begin(self) -> list[Tensor]:
        """Called once at the beginning of a step; gives back what it assigned to."""
        return []

    def _states(self) -> list[list[Tensor]]:
        """What is remembered: lists with a Tensor for each parameter."""
        return []

    # ---- help for them ---------------------------------------------------------------------------

    def _keep(self, value: float) -> Tensor:
        return kept(value, (), self._dtype, self.device)

    def _zeros(self) -> list[Tensor]:
        """Zeros in the shape of each parameter."""
        return self._filled(0.0)

    def _filled(self, value: float) -> list[Tensor]:
        """One number in the shape of each parameter."""
        return [kept(value, t.shape, self._wide(t), t.device) for t in self.params]  # type: ignore[arg-type]

    def _wide(self, tensor: Tensor) -> DType:
        return least_upper_dtype(tensor.dtype, dtypes.float32)

    def _set(self, tensor: Tensor, value: Tensor) -> Tensor:
        """Assigns, unless this step is to be skipped; gives back the Tensor assigned to."""
        value = value.cast(tensor.dtype)
        if self._skip is not None:
            value = self._skip.to(tensor.device).where(tensor.detach(), value)
        return tensor.assign(value)

    def _rate(self, value: Tensor) -> Tensor:
        """The learning rate for a parameter, in its dtype and on its device."""
        return _beside(self._lr, value)


def _beside(number: Tensor, value: Tensor) -> Tensor:
    """A Tensor of shape () in the dtype and on the device of a parameter's value."""
    return number.detach().to(value.device).cast(value.dtype)


def _factor(number: Tensor | float, value: Tensor) -> Tensor | float:
    """A hyperparameter: a number, or once a schedule moves it what is in its memory now."""
    return _beside(number, value) if isinstance(number, Tensor) else number


def _with_decay(gradient: Tensor, weight_decay: float, value: Tensor) -> Tensor:
    """The gradient of the loss with a penalty on large parameters, weight_decay/2 * |p|²."""
    return gradient + weight_decay * value if weight_decay else gradient


def _checked(value: float, name: str) -> float:
    if not value >= 0:
        raise ValueError(f"{name} is 0 or more, not {value}")
    return float(value)


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

    def kept_momentum(self) -> Tensor | None:
        """That of the first, like `lr`."""
        return self.optimizers[0].kept_momentum()

    def schedule_step(self, skip: Tensor | None = None) -> list[Tensor]:
        """What every one of them realizes."""
        steps = [optimizer.schedule_step(skip) for optimizer in self.optimizers]
        return [tensor for step in steps for tensor in step]


# ---- gradient descent with momentum --------------------------------------------------------------


class SGD(Optimizer):
    """Gradient descent, with momentum.

        m = momentum * m + g
        p = p - lr * m

    weight_decay: adds so many times the parameter to its gradient. nesterov: looks ahead,
    p - lr * (g + momentum * m). classic: the learning rate goes into m instead, m = momentum * m +
    lr * g, which differs while the learning rate changes.

    Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        classic: bool = False,
    ):
        super().__init__(params, lr)
        self.momentum: Tensor | float = _checked(momentum, "momentum")
        self._momentum_name = "momentum" if momentum else None
        self.weight_decay = _checked(weight_decay, "weight_decay")
        self.nesterov, self.classic = nesterov, classic
        if nesterov and not momentum:
            raise ValueError("nesterov needs momentum: with momentum=0 there is nothing ahead")
        self.b = self._zeros() if momentum else []

    def _states(self) -> list[list[Tensor]]:
        return [self.b] if self.b else []

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        gradient = _with_decay(gradient, self.weight_decay, value)
        return self._descend(number, value, gradient, self._rate(value))

    def _descend(self, number: int, value: Tensor, gradient: Tensor, rate: Tensor) -> Tensor:
        if self.classic:
            gradient, rate = gradient * rate, rate.ones_like()
        if self.b:
            momentum = _factor(self.momentum, gradient)
            b = self._set(self.b[number], self.b[number] * momentum + gradient)
            gradient = gradient + momentum * b if self.nesterov else b
        return value - rate * gradient


class LARS(SGD):
    """SGD with a rate of its own for every parameter, so that large batches train.

    The learning rate is multiplied by tcoef * |p| / (|g| + weight_decay * |p|), where neither is 0.
    You, Gitman and Ginsburg, "Large batch training of convolutional networks" (2017).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        nesterov: bool = False,
        classic: bool = True,
        tcoef: float = 0.001,
    ):
        super().__init__(params, lr, momentum, weight_decay, nesterov, classic)
        self.tcoef = tcoef

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        size, slope = _norm(value), _norm(gradient)
        trust = self.tcoef * size / (slope + self.weight_decay * size)
        trust = ((size > 0) & (slope > 0)).where(trust, 1.0)
        gradient = gradient + self.weight_decay * value
        return self._descend(number, value, gradient, self._rate(value) * trust)


def _norm(x: Tensor) -> Tensor:
    return x.square().sum().sqrt()


# ---- rates by the size of past gradients ---------------------------------------------------------


class Adagrad(Optimizer):
    """Ever smaller steps, and smaller ones for parameters whose gradients were large.

        v = v + g * g                  begins as initial_accumulator_value
        p = p - lr' * g / (sqrt(v) + eps)

    lr_decay: lr' = lr / (1 + t * lr_decay) after t steps. weight_decay: adds so many times the
    parameter to its gradient.

    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning" (2011).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.01,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
    ):
        super().__init__(params, lr)
        self.lr_decay, self.eps = _checked(lr_decay, "lr_decay"), _checked(eps, "eps")
        self.weight_decay = _checked(weight_decay, "weight_decay")
        begin = _checked(initial_accumulator_value, "initial_accumulator_value")
        self.t = self._keep(0)
        self.v = self._filled(begin)

    def _begin(self) -> list[Tensor]:
        return [self._set(self.t, self.t + 1)]

    def _states(self) -> list[list[Tensor]]:
        return [self.v]

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        gradient = _with_decay(gradient, self.weight_decay, value)
        v = self._set(self.v[number], self.v[number] + gradient.square())
        rate = self._rate(value)
        if self.lr_decay:
            rate = rate / (1 + (_beside(self.t, value) - 1) * self.lr_decay)
        return value - rate * gradient / (v.sqrt() + self.eps)


class RMSprop(Optimizer):
    """Steps of about lr, whatever the gradient's scale, as Adagrad that forgets.

        v = alpha * v + (1 - alpha) * g * g
        p = p - lr * g / (sqrt(v) + eps)

    centered: divides by the standard deviation, sqrt(v - m * m), where m is the mean of g. With
    momentum the fraction goes into b = momentum * b + g / (…), and p = p - lr * b. weight_decay:
    adds so many times the parameter to its gradient.

    Tieleman and Hinton, "Lecture 6.5 - rmsprop" (2012); centered: Graves, "Generating sequences
    with recurrent neural networks" (2013).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
    ):
        super().__init__(params, lr)
        self.alpha, self.eps = _checked(alpha, "alpha"), _checked(eps, "eps")
        self.weight_decay = _checked(weight_decay, "weight_decay")
        self.momentum: Tensor | float = _checked(momentum, "momentum")
        self._momentum_name = "momentum" if momentum else None
        self.v = self._zeros()
        self.m = self._zeros() if centered else []
        self.b = self._zeros() if momentum else []

    def _states(self) -> list[list[Tensor]]:
        return [state for state in (self.v, self.m, self.b) if state]

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        gradient = _with_decay(gradient, self.weight_decay, value)
        squares = gradient.square() * (1 - self.alpha)
        variance = self._set(self.v[number], self.v[number] * self.alpha + squares)
        if self.m:
            m = self.m[number]
            m = self._set(m, m + (gradient - m) * (1 - self.alpha))
            variance = variance - m.square()
        step = gradient / (variance.sqrt() + self.eps)
        if self.b:
            b = self.b[number]
            step = self._set(b, b * _factor(self.momentum, gradient) + step)
        return value - self._rate(value) * step


# ---- the Adam family -----------------------------------------------------------------------------


class Adam(Optimizer):
    """Steps of about lr in every direction, whatever the gradient's scale.

        m = b1 * m + (1 - b1) * g                 the mean of g
        v = b2 * v + (1 - b2) * g * g             the mean of its square
        p = p - lr * m' / (sqrt(v') + eps)        m' = m / (1 - b1 ** t), v' = v / (1 - b2 ** t)

    Both means begin as 0; the division by 1 - b ** t takes out what that costs in the first steps.
    weight_decay: adds so many times the parameter to its gradient.

    Kingma and Ba, "Adam: a method for stochastic optimization" (2015).
    """

    _momentum_name = "b1"

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        super().__init__(params, lr)
        for name, decay in (("b1", b1), ("b2", b2)):
            if not 0 <= decay < 1:
                raise ValueError(f"{name} is from 0 to below 1, not {decay}")
        self.b1: Tensor | float = b1
        self.b2, self.eps = b2, _checked(eps, "eps")
        self.weight_decay = _checked(weight_decay, "weight_decay")
        self.t = self._keep(0)
        self.m, self.v = self._zeros(), self._zeros()

    def _begin(self) -> list[Tensor]:
        return [self._set(self.t, self.t + 1)]

    def _states(self) -> list[list[Tensor]]:
        return [self.m, self.v]

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        gradient = _with_decay(gradient, self.weight_decay, value)
        return value - self._rate(value) * self._direction(number, gradient)

    def _direction(self, number: int, gradient: Tensor) -> Tensor:
        """m' / (sqrt(v') + eps), with both means updated."""
        m, v, t = self._means(number, gradient)
        b1 = _factor(self.b1, gradient)
        return m / _grown(b1, t) / ((v / _grown(self.b2, t)).sqrt() + self.eps)

    def _means(self, number: int, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """m and v, updated, and t."""
        b1 = _factor(self.b1, gradient)
        m = self._set(self.m[number], self.m[number] * b1 + gradient * (1 - b1))
        squares = gradient.square() * (1 - self.b2)
        v = self._set(self.v[number], self.v[number] * self.b2 + squares)
        return m, v, _beside(self.t, gradient)


def _grown(decay: Tensor | float, t: Tensor) -> Tensor:
    """1 - decay ** t, to the last digit: 1 - 0.999 itself would lose three of seven."""
    if isinstance(decay, Tensor):
        return -expm1(t * decay.log())
    return -expm1(t * math.log(decay)) if decay else t.ones_like()


class AdamW(Adam):
    """Adam that shrinks parameters by lr * weight_decay themselves, not by way of the gradient.

    Loshchilov and Hutter, "Decoupled weight decay regularization" (2019).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ):
        super().__init__(params, lr, b1, b2, eps, weight_decay)

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        rate = self._rate(value)
        kept_part = value * (1 - rate * self.weight_decay)
        return kept_part - rate * self._direction(number, gradient)


class NAdam(Adam):
    """Adam with Nesterov's momentum: the step looks ahead at where the mean will be.

        mu = b1 * (1 - 0.96 ** (t * momentum_decay) / 2), which grows towards b1
        m' = mu(t+1) * m / (1 - product of mu up to t+1) + (1 - mu) * g / (1 - product up to t)
        p = p - lr * m' / (sqrt(v') + eps)

    decoupled_weight_decay: shrinks parameters themselves, as AdamW does.
    Dozat, "Incorporating Nesterov momentum into Adam" (2016).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.002,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
    ):
        super().__init__(params, lr, b1, b2, eps, weight_decay)
        self.momentum_decay = _checked(momentum_decay, "momentum_decay")
        self.decoupled_weight_decay = decoupled_weight_decay
        self.product = self._keep(1.0)  # of mu up to t

    def _mu(self, t: Tensor) -> Tensor:
        growing = 1 - 0.5 * (t * (self.momentum_decay * math.log(0.96))).exp()
        return growing * _factor(self.b1, t)

    def _begin(self) -> list[Tensor]:
        t = self._set(self.t, self.t + 1)
        return [t, self._set(self.product, self.product * self._mu(t.detach()))]

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        rate = self._rate(value)
        value, gradient = _decayed(self, value, gradient, rate)
        m, v, t = self._means(number, gradient)
        mu, ahead, product = self._mu(t), self._mu(t + 1), _beside(self.product, value)
        mean = m * (ahead / (1 - product * ahead)) + gradient * ((1 - mu) / (1 - product))
        return value - rate * mean / ((v / _grown(self.b2, t)).sqrt() + self.eps)


class RAdam(Adam):
    """Adam that does not divide by sqrt(v') until v has seen enough gradients to be trusted.

    rho is how many gradients v remembers so far. While it is 5 or less, the step is lr * m'; from
    then on it is Adam's step times a factor that grows towards 1.
    decoupled_weight_decay: shrinks parameters themselves, as AdamW does.

    Liu et al., "On the variance of the adaptive learning rate and beyond" (2020), algorithm 2.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
    ):
        super().__init__(params, lr, b1, b2, eps, weight_decay)
        self.decoupled_weight_decay = decoupled_weight_decay

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        rate = self._rate(value)
        value, gradient = _decayed(self, value, gradient, rate)
        m, v, t = self._means(number, gradient)
        mean = m / _grown(_factor(self.b1, gradient), t)
        # In float64: rho is the small difference of two large numbers.
        steps = t.cast(dtypes.float64)
        seen = _grown(self.b2, steps)
        longest = 2 / (1 - self.b2) - 1
        rho: Any = longest - 2 * steps * (1 - seen) / seen
        is_known = rho > 5
        rest = (longest - 4) * (longest - 2) / longest
        trust = is_known.where((rho - 4) * (rho - 2) / (rho * rest) * seen, 1.0).sqrt()
        adapted = mean * trust.cast(value.dtype) / (v.sqrt() + self.eps)
        return value - rate * is_known.where(adapted, mean)


def _decayed(
    optimizer: NAdam | RAdam, value: Tensor, gradient: Tensor, rate: Tensor
) -> tuple[Tensor, Tensor]:
    """The value and the gradient, one of them with weight decay."""
    decay = optimizer.weight_decay
    if optimizer.decoupled_weight_decay:
        return value * (1 - rate * decay), gradient
    return value, _with_decay(gradient, decay, value)


class LAMB(Adam):
    """AdamW whose step is scaled to the size of the parameter, so that large batches train.

    The direction, weight decay included, is multiplied by |p| / |direction|, where neither is 0.
    You et al., "Large batch optimization for deep learning" (2020).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ):
        super().__init__(params, lr, b1, b2, eps, weight_decay)

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        direction = self._direction(number, gradient) + self.weight_decay * value
        size, length = _norm(value), _norm(direction)
        trust = ((size > 0) & (length > 0)).where(size / length, 1.0)
        return value - self._rate(value) * trust * direction


# ---- Muon ----------------------------------------------------------------------------------------


class Muon(Optimizer):
    """For matrices: momentum, made orthogonal, so that a step moves all directions equally far.

        m = momentum * m + (1 - momentum) * g
        p = p - lr * weight_decay * p - lr * sqrt(max(1, rows / columns)) * orthogonal(m)

    A kernel of a convolution counts as a matrix with out_channels rows. Vectors (biases, norms) and
    embeddings are for another optimizer, see OptimizerGroup: ValueError.

    Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024).
    """

    _momentum_name = "momentum"

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
        ns_steps: int = 5,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        nesterov: bool = True,
        eps: float = 1e-7,
    ):
        super().__init__(params, lr)
        for tensor in self.params:
            if tensor.ndim < 2:
                raise ValueError(
                    f"Muon is for matrices, not for a parameter of shape {tensor.shape}: "
                    "OptimizerGroup(Muon(matrices), AdamW(others))"
                )
        self.momentum: Tensor | float = _checked(momentum, "momentum")
        self.weight_decay = _checked(weight_decay, "weight_decay")
        self.ns_steps, self.ns_coefficients, self.eps = ns_steps, ns_coefficients, eps
        self.nesterov = nesterov
        self.b = self._zeros()

    def _states(self) -> list[list[Tensor]]:
        return [self.b]

    def _next(self, number: int, value: Tensor, gradient: Tensor) -> Tensor:
        b, momentum = self.b[number], _factor(self.momentum, gradient)
        b = self._set(b, b + (gradient - b) * (1 - momentum))
        if self.nesterov:
            b = b - (b - gradient) * (1 - momentum)
        matrix = orthogonalized(b.flatten(1), self.ns_steps, self.ns_coefficients, self.eps)
        rows, columns = matrix.shape
        rate = self._rate(value)
        scale = math.sqrt(max(1, rows / columns))
        step = matrix.cast(value.dtype).reshape(value.shape)
        return value * (1 - rate * self.weight_decay) - rate * scale * step


def orthogonalized(
    matrix: Tensor, steps: int, coefficients: tuple[float, float, float], eps: float
) -> Tensor:
    """About the nearest orthogonal matrix: U @ V.T for U @ diag(s) @ V.T. In bfloat16.

    Each step of this Newton-Schulz iteration puts every singular value s through
    a*s + b*s**3 + c*s**5; with Muon's coefficients they come to lie between 0.5 and 1.5, which is
    good enough and quick. Five digits are not needed for that, so all is rounded to bfloat16, at
    the same places as in PyTorch.
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
    """To the digits of bfloat16, in float32."""
    return x.cast(dtypes.bfloat16).cast(dtypes.float32)
