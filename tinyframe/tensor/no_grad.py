"""no_grad: results that no gradient will flow through.

    with Tensor.no_grad():
        w.assign(w - 0.1 * w.grad)      # w stays what it was: a parameter, not a result

Every method records how its result came about, since that is what will be computed. Inside
`no_grad()` it cuts the way back: what requires a gradient, or may yet, is taken through a DETACH.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# In how many blocks of no_grad() this thread (or asyncio task) is.
_blocks: ContextVar[int] = ContextVar("tinyframe_no_grad", default=0)


def is_grad_enabled() -> bool:
    """Whether gradients will flow through what is made now."""
    return _blocks.get() == 0


class NoGrad(contextlib.ContextDecorator):
    """A block, or as a decorator a function, without gradients. It has no state of its own: one may
    be entered twice, and by several threads."""

    def __enter__(self) -> None:
        _blocks.set(_blocks.get() + 1)

    def __exit__(self, *_: object) -> None:
        _blocks.set(_blocks.get() - 1)

    def __call__(self, func: Function) -> Function:
        if not inspect.isgeneratorfunction(func):
            return super().__call__(func)

        # A generator runs after its call has returned, and in between runs whoever asks it.
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
