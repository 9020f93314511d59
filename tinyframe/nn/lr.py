"""Schedules: the learning rate as a function of the number of steps taken.

    schedule = SequentialLR(
        optimizer, [LinearLR(optimizer, 0.01, 1.0, 100), CosineAnnealingLR(optimizer, 900)], [100]
    )
    for x, y in batches:
        ...
        optimizer.step()
        schedule.step()

The number of steps and the learning rate are Tensors, and `at` computes the rate from the step with
Tensor operations, so a TinyJit replays it like everything else.
"""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, ClassVar

from tinyframe.dtype import dtypes
from tinyframe.errors import check_choice
from tinyframe.nn.initial import kept
from tinyframe.nn.layer import REQUIRED, bound, signature_of
from tinyframe.nn.optim import Optimizer
from tinyframe.tensor.core import Tensor


class Schedule:
    """The base of all schedules. Creating one sets the optimizer's rate to that of step 0.

    A subclass has `settings`, the arguments of its constructor after the optimizer, and `at`.
    base_lr: the optimizer's learning rate when its first schedule was made.
    """

    settings: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.__signature__ = signature_of(cls.settings, "optimizer")

    def __init__(self, *args: Any, **kwargs: Any):
        vars(self).update(bound(type(self).__name__, self.__signature__, *args, **kwargs))
        self._prepare()
        optimizer = self.optimizer
        if optimizer.initial_lr is None:
            optimizer.initial_lr = optimizer.lr.item()
        self.base_lr = optimizer.initial_lr
        self.steps = kept(0, (), dtypes.int32, optimizer.lr.device)
        self._set()

    def _prepare(self) -> None:
        """Further checks and attributes of a subclass."""

    if TYPE_CHECKING:
        __signature__: ClassVar[inspect.Signature]
        optimizer: Optimizer

        def __getattr__(self, name: str) -> Any: ...

    def at(self, step: Tensor) -> Tensor:
        """The learning rate at a step: an int32 Tensor of shape () to a float32 one."""
        raise NotImplementedError(f"{type(self).__name__} has to define at(step)")

    def momentum_at(self, step: Tensor) -> Tensor | None:
        """The momentum at a step; None if it does not change."""
        return None

    def step(self) -> None:
        """Counts one step, and sets the optimizer's rate, and its momentum if that changes."""
        self.steps.assign(self.steps + 1)
        self._set()

    def _set(self) -> None:
        step = self.steps.detach()
        self.optimizer.lr = self.at(step)
        if (momentum := self.momentum_at(step)) is not None:
            memory = self.optimizer.kept_momentum()
            assert memory is not None, "only OneCycleLR has one, which made sure"
            memory.assign(momentum.cast(memory.dtype)).realize()
        self.steps.realize()

    def get_lr(self) -> Tensor:
        """The current learning rate."""
        return self.optimizer.lr


def _float(step: Tensor) -> Tensor:
    return step.cast(dtypes.float32)


class LambdaLR(Schedule):
    """base_lr times a function of the step, from a Tensor to a Tensor."""

    settings = {"lr_lambda": REQUIRED}

    def at(self, step: Tensor) -> Tensor:
        return self.lr_lambda(step) * self.base_lr


class StepLR(Schedule):
    """Multiplied by gamma every `step_size` steps."""

    settings = {"step_size": REQUIRED, "gamma": 0.1}

    def at(self, step: Tensor) -> Tensor:
        times = _float(step // self.step_size)
        return times.full_like(self.gamma) ** times * self.base_lr


class MultiStepLR(Schedule):
    """Multiplied by gamma at each of the steps `milestones`."""

    settings = {"milestones": REQUIRED, "gamma": 0.1}

    def at(self, step: Tensor) -> Tensor:
        rate = _float(step).full_like(self.base_lr)
        for passed, milestone in enumerate(sorted(self.milestones), 1):
            rate = (step >= milestone).where(self.base_lr * self.gamma**passed, rate)
        return rate


class LinearLR(Schedule):
    """From start_factor to end_factor times base_lr in `total_iters` steps: warm-up."""

    settings = {"start_factor": 1 / 3, "end_factor": 1.0, "total_iters": 5}

    def at(self, step: Tensor) -> Tensor:
        part = (_float(step) / self.total_iters).clip(0, 1)
        return (self.start_factor + part * (self.end_factor - self.start_factor)) * self.base_lr


class CosineAnnealingLR(Schedule):
    """From base_lr down to eta_min along half a cosine in T_max steps, and then up again.

    Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017).
    """

    settings = {"T_max": REQUIRED, "eta_min": 0.0}

    def at(self, step: Tensor) -> Tensor:
        return _half_cosine(_float(step) / self.T_max, self.base_lr, self.eta_min)


class OneCycleLR(Schedule):
    """Up to max_lr in the first fraction pct_start of the steps, and then down to almost 0.

    It starts at max_lr / div_factor and ends at that / final_div_factor. anneal_strategy: "cos" or
    "linear". cycle_momentum: the momentum (b1 of the Adam family) moves in the opposite direction,
    from max_momentum down to base_momentum and back; ValueError if the optimizer has none.
    Smith and Topin, "Super-convergence" (2018).
    """

    settings = {
        "max_lr": REQUIRED, "total_steps": REQUIRED, "pct_start": 0.3, "anneal_strategy": "cos",
        "div_factor": 25.0, "final_div_factor": 1e4, "cycle_momentum": True, "base_momentum": 0.85,
        "max_momentum": 0.95,
    }  # fmt: skip

    def _prepare(self) -> None:
        check_choice("anneal_strategy", self.anneal_strategy, "cos", "linear")
        if self.cycle_momentum and self.optimizer.kept_momentum() is None:
            raise ValueError(
                f"{type(self.optimizer).__name__} without momentum has none to cycle: give it "
                "momentum=, or OneCycleLR cycle_momentum=False"
            )
        self.initial_lr = self.max_lr / self.div_factor
        self.final_lr = self.initial_lr / self.final_div_factor
        self.between = _half_cosine if self.anneal_strategy == "cos" else _line

    def at(self, step: Tensor) -> Tensor:
        return self._cycle(step, self.initial_lr, self.max_lr, self.final_lr)

    def momentum_at(self, step: Tensor) -> Tensor | None:
        if not self.cycle_momentum:
            return None
        return self._cycle(step, self.max_momentum, self.base_momentum, self.max_momentum)

    def _cycle(self, step: Tensor, first: float, middle: float, last: float) -> Tensor:
        top, end = self.pct_start * self.total_steps - 1, self.total_steps - 1
        now = _float(step)
        # With pct_start * total_steps <= 1 there is no first phase.
        before = self.between(now / top if top > 0 else now.ones_like(), first, middle)
        part = ((now - top) / (end - top)).clip(0, 1)
        return (now > top).where(self.between(part, middle, last), before)


def _half_cosine(part: Tensor, begin: float, end: float) -> Tensor:
    """From begin (part 0) to end (part 1), slowly at both ends.

    (1 + cos(x)) / 2 is cos(x / 2) squared, which keeps its digits near the end, where it is 0.
    """
    return end + (begin - end) * (part * (math.pi / 2)).cos().square()


def _line(part: Tensor, begin: float, end: float) -> Tensor:
    return part * (end - begin) + begin


class SequentialLR(Schedule):
    """One schedule after the other: the next takes over, from its own step 0, at each milestone."""

    settings = {"schedulers": REQUIRED, "milestones": REQUIRED}

    def _prepare(self) -> None:
        if len(self.milestones) != len(self.schedulers) - 1:
            raise ValueError(
                f"{len(self.schedulers)} schedules need {len(self.schedulers) - 1} milestones "
                f"between them, not {len(self.milestones)}"
            )

    def at(self, step: Tensor) -> Tensor:
        rate = self.schedulers[0].at(step)
        for begin, schedule in zip(self.milestones, self.schedulers[1:], strict=True):
            rate = (step >= begin).where(schedule.at(step - begin), rate)
        return rate

    def momentum_at(self, step: Tensor) -> Tensor | None:
        given = [(0, self.schedulers[0]), *zip(self.milestones, self.schedulers[1:], strict=True)]
        found = [(begin, schedule.momentum_at(step - begin)) for begin, schedule in given]
        if all(momentum is None for _, momentum in found):
            return None
        now = self.optimizer.kept_momentum()
        assert now is not None
        result = now = now.detach()
        for begin, momentum in found:  # None leaves it as it is
            result = (step >= begin).where(now if momentum is None else momentum, result)
        return result
