"""no_grad: results that no gradient flows through.

    with Tensor.no_grad():
        w.assign(w - 0.1 * w.grad)      # w stays a parameter, and does not become a result

Every method records its graph, which is needed to compute the result. Inside `no_grad()` operands
that require a gradient, or may still come to, go through a DETACH, which stops gradients.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# The number of nested no_grad() blocks that this thread (or asyncio task) is in.
_blocks: ContextVar[int] = ContextVar("tinyframe_no_grad", default=0)


def is_grad_enabled() -> bool:
    """Whether gradients flow through results that are made now."""
    return _blocks.get() == 0


class NoGrad(contextlib.ContextDecorator):
    """A block, or as a decorator a function, without gradients. It has no state of its own, so one
    can be entered twice, and by several threads."""

    def __enter__(self) -> None:
        _blocks.set(_blocks.get() + 1)

    def __exit__(self, *_: object) -> None:
        _blocks.set(_blocks.get() - 1)

    def __call__(self, func: Function) -> Function:
        if not inspect.isgeneratorfunction(func):
            return super().__call__(func)

        # A generator runs after the call has returned, in turns with its caller.
        @functools.wraps(func)
        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator, sent = func(*args, **kwargs), None
            while True:
                try:
                    with self:
                        item = generator.send(sent)
                except StopIteration as end:
                    return end.value
                sent = yield item

        return steps  # type: ignore[return-value]
