"""What kernels a handful of expressions become, and which of them a change alters.

The recorder is the repository's (tests/replay), which maintainers run over thousands of kernels.
Here it records 26 expressions, in the C of the NULL device, which is the same on every machine and
runs nothing. Little is imported here, since this runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tinyframe import Tensor
from tinyframe.observe import observing

Make = Callable[[Tensor, Tensor], Tensor]
EXPRESSIONS: dict[str, Make] = {
    "x + y": lambda x, y: x + y,
    "x / y": lambda x, y: x / y,
    "x @ y": lambda x, y: x @ y,
    "x.sum(0)": lambda x, y: x.sum(0),
    "x.mean()": lambda x, y: x.mean(),
    "x.std()": lambda x, y: x.std(),
    "x.square()": lambda x, y: x.square(),
    "x.sqrt()": lambda x, y: x.sqrt(),
    "x.rsqrt()": lambda x, y: x.rsqrt(),
    "x.exp()": lambda x, y: x.exp(),
    "x.log()": lambda x, y: x.log(),
    "x.sin()": lambda x, y: x.sin(),
    "x.tan()": lambda x, y: x.tan(),
    "x.tanh()": lambda x, y: x.tanh(),
    "x.cosh()": lambda x, y: x.cosh(),
    "x.erf()": lambda x, y: x.erf(),
    "x.log1p()": lambda x, y: x.log1p(),
    "x.hypot(y)": lambda x, y: x.hypot(y),
    "x.lerp(y, 0.3)": lambda x, y: x.lerp(y, 0.3),
    "x.relu()": lambda x, y: x.relu(),
    "x.sigmoid()": lambda x, y: x.sigmoid(),
    "x.gelu()": lambda x, y: x.gelu(),
    "x.softmax()": lambda x, y: x.softmax(),
    "x.layernorm()": lambda x, y: x.layernorm(),
    "x.maximum(y)": lambda x, y: x.maximum(y),
    "x.sinc()": lambda x, y: x.sinc(),
}

Sources = dict[str, list[str]]  # of each expression: the C of its kernels


def kernels(names: Sequence[str] = ()) -> Sources:
    """What kernels these expressions become, with the tinyframe that is imported; all of them where
    none is named. One that can't be made has none."""
    from tests.replay.record import Recorder
    from tests.replay.recording import Recording

    recording = Recording("here", [], [], "NULL")
    recorder = Recorder(recording)
    with observing(recorder):
        for name in names or EXPRESSIONS:
            recorder.begin(name)
            x, y = (Tensor.empty(16, 16, device="NULL") for _ in range(2))
            try:
                EXPRESSIONS[name](x, y).realize()
            except AttributeError:
                continue
    found: Sources = {name: [] for name in names or EXPRESSIONS}
    for kernel in recording.kernels.values():
        for name in kernel.files:
            found[name] += [program.source for program in kernel.programs]
    return {name: sorted(sources) for name, sources in found.items()}


def compared(old: Sources, new: Sources) -> dict[str, str]:
    """Of each expression: "same", "changed", "new", or "" where neither has it."""
    return {
        name: "" if not new[name] else "same" if new[name] == old[name]
        else "changed" if old[name] else "new"
        for name in old
    }  # fmt: skip
