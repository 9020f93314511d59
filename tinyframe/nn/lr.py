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
from tinyframe.nn.initial import kept
from tinyframe.nn.layer import REQUIRED, bound, signature_of
from tinyframe.nn.optim import Optimizer
from tinyframe.peer_settings import no_names
from tinyframe.tensor.core import Tensor

__getattr__ = no_names(__name__)


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

    def step(self) -> None:
        """Counts one step, and sets the optimizer's rate."""
        self.steps.assign(self.steps + 1)
        self._set()

    def _set(self) -> None:
        self.optimizer.lr = self.at(self.steps.detach())
        self.steps.realize()

    def get_lr(self) -> Tensor:
        """The current learning rate."""
        return self.optimizer.lr


class LambdaLR(Schedule):
    """base_lr times a function of the step, from a Tensor to a Tensor."""

    settings = {"lr_lambda": REQUIRED}

    def at(self, step: Tensor) -> Tensor:
        return self.lr_lambda(step) * self.base_lr


class StepLR(Schedule):
    """Multiplied by gamma every `step_size` steps."""

    settings = {"step_size": REQUIRED, "gamma": 0.1}

    def at(self, step: Tensor) -> Tensor:
        times = (step // self.step_size).float()
        return times.full_like(self.gamma) ** times * self.base_lr


class LinearLR(Schedule):
    """From start_factor to end_factor times base_lr in `total_iters` steps: warm-up."""

    settings = {"start_factor": 1 / 3, "end_factor": 1.0, "total_iters": 5}

    def at(self, step: Tensor) -> Tensor:
        part = (step.float() / self.total_iters).clip(0, 1)
        return (self.start_factor + part * (self.end_factor - self.start_factor)) * self.base_lr


class CosineAnnealingLR(Schedule):
    """From base_lr down to eta_min along half a cosine in T_max steps, and then up again.

    Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017).
    """

    settings = {"T_max": REQUIRED, "eta_min": 0.0}

    def at(self, step: Tensor) -> Tensor:
        # (1 + cos(x)) / 2 is cos(x / 2) squared, which keeps its digits near the end, where it is 0
        part = step.float() / self.T_max * (math.pi / 2)
        return self.eta_min + (self.base_lr - self.eta_min) * part.cos().square()


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
