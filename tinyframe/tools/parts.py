"""Do the parts of a backend do what runtime/README.md asks, whatever its kernels compute?

Each check takes a device's name and returns what is wrong, or an empty text. They are the first
rows of `python -m tinyframe.runtime.conformance`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

import numpy as np

from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.opt import Opt, OptOps
from tinyframe.device import Allocator, Buffer
from tinyframe.dtype import DType, to_np_dtype
from tinyframe.run.realize import CompiledKernel, get_kernel, record_runs
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.uop.node import Ops

# `order` makes launches that take this long together, far longer than Python needs to submit them
SECONDS, MOST_LAUNCHES = 0.02, 2000
MOST_THREADS = 256  # per block: more than run in lockstep
# what is wrong if launches are not waited for: before copyout, and before copyin
TOO_EARLY = (
    "memory was read before all launches were done: synchronize() has to wait for them",
    "copyin changed the input of launches that were made before it: it has to wait until they are "
    "done",
)


def on(device: str, values: Iterable[float], dtype: DType) -> Tensor:
    """A Tensor of these values, in memory."""
    np_dtype = to_np_dtype(dtype)
    array = np.array(list(values), np.float32 if np_dtype is None else np_dtype)
    return Tensor(array, device="PYTHON").cast(dtype).realize().to(device).realize()


def bytes_of(buffer: Buffer) -> bytes:
    """The content of a Buffer."""
    return bytes(buffer.copyout(bytearray(buffer.nbytes)))


def _kernel_of(result: Tensor) -> ScheduleItem:
    """Computes a Tensor, and returns the only kernel that took."""
    with record_runs() as runs:
        result.realize()
    (item,) = [item for items, _ in runs for item in items if item.ast.op is Ops.SINK]
    return item


def names(device: str) -> str:
    """No part defines a name that is nearly, but not quite, one that it could override: nothing
    would call it. Empty if none does."""
    opened = Device[device]
    runner = getattr(opened.runner, "func", opened.runner)  # the function of a partial
    found = []
    for kind in (*map(type, (opened, opened.allocator, opened.renderer, opened.compiler)), runner):
        known, own = set[str](), set[str]()
        for base in getattr(kind, "__mro__", ())[:-1]:
            (known if base.__module__.partition(".")[0] == "tinyframe" else own).update(vars(base))
        for name in sorted(own - known):
            close = difflib.get_close_matches(name, known - own, n=1, cutoff=0.85)
            found += [f"{kind.__name__} defines {name}, which nothing calls; did you mean {n}?"
                      for n in close]  # fmt: skip
    return "\n".join(found)


def memory(device: str) -> str:
    """Each of several Buffers holds what was copied into it, even after others have been freed;
    empty if it does."""
    allocator = Device[device].allocator
    random = np.random.default_rng(0)
    sizes = (1, 3, 1000, 1000, 4096)
    data = [random.integers(0, 256, size).astype(np.uint8).tobytes() for size in sizes]
    buffers = [Buffer(device, len(d), dtypes.uchar).copyin(d) for d in data]
    if type(allocator)._free is Allocator._free and isinstance(buffers[0]._buf, (int, str)):
        return (f"_alloc gives {buffers[0]._buf!r}, which Python frees without giving the memory "
                "back: define _free(opaque, options)")  # fmt: skip
    for n in (3, 0):
        buffers[n].deallocate()
    allocator.free_kept()
    for n in (1, 2, 4):
        if bytes_of(buffers[n]) != data[n]:
            return f"a Buffer of {sizes[n]} bytes does not hold what was copied into it"
    return ""


def launches(device: str) -> str:
    """A launch has an effect, and so does one with `wait`, which returns the seconds it took."""
    total, one = (on(device, [1.0] * 1000, dtypes.float) for _ in range(2))
    item = _kernel_of(total.assign(total + one))
    seconds = get_kernel(item.ast, device)(item.bufs, {}, wait=True)
    if not isinstance(seconds, float) or seconds < 0:
        return f"with wait=True a launch must return the seconds it took, not {seconds!r}"
    if not (total.numpy() == 3).all():
        return f"1 + 1 + 1 is {total.numpy()[0]}: one launch had no effect, or both"
    return ""


def order(device: str) -> str:
    """Launches and copies take effect in the order in which they were issued."""
    total, one = (on(device, [1.0] * 1000, dtypes.float) for _ in range(2))
    item = _kernel_of(total.assign(total + one))
    kernel, (added,) = get_kernel(item.ast, device), {*item.bufs} - {item.bufs[0]}
    seconds = kernel(item.bufs, {}, wait=True) or 0.0
    count = int(min(max(4, SECONDS / max(seconds, 1e-6)), MOST_LAUNCHES))
    for overwrites in (False, True):
        before = total.numpy()[0]
        for _ in range(count):
            kernel(item.bufs, {})
        if overwrites:
            added.copyin(bytes(added.nbytes))
        if not (total.numpy() == before + count).all():
            return TOO_EARLY[overwrites]
    return ""


def _made_of(result: Tensor, opts: list[Opt], expected: np.ndarray, room: int = 0) -> str:
    """What is wrong with the result of a Tensor's kernel with these Opts. room: elements after its
    result, which it must not touch."""
    opened, item = Device[result.device], _kernel_of(result)
    spec = get_program(item.ast, opened.renderer, opts)
    kernel = CompiledKernel(spec, opened.runner(spec.function, opened.compiler.compile(spec.src)))
    wanted = np.append(expected.astype(np.float32), np.zeros(room, np.float32))
    bufs = [Buffer(result.device, wanted.size, dtypes.float), *item.bufs[1:]]
    bufs[0].copyin(bytes(wanted.nbytes))
    kernel(bufs, {})
    wrong = np.flatnonzero(bufs[0].numpy() != wanted)
    if not len(wrong):
        return ""
    found = f"element {wrong[0]} is {bufs[0].numpy()[wrong[0]]}, and should be {wanted[wrong[0]]}"
    sizes = f"global_size {spec.global_size} and local_size {spec.local_size}"
    return f"with {sizes}, {len(wrong)} of {wanted.size} numbers are wrong; {found}:\n\n{spec.src}"


def shares(device: str) -> str:
    """All of a kernel is run if one of its loops is divided among cores, or is a grid of blocks.
    Nothing is checked on a device that has neither."""
    data, target = np.arange(96).reshape(12, 8), Device[device].renderer.target
    if not target.block_threads and target.threads == 1:
        return ""
    divided = Opt(OptOps.GLOBAL if target.block_threads else OptOps.THREAD, 0)
    doubled = on(device, data.ravel(), dtypes.float).reshape(12, 8).T * 2
    return _made_of(doubled, [divided], data.T.ravel() * 2)


def blocks(device: str) -> str:
    """The threads of a block share memory, and wait for each other at a BARRIER. Nothing is checked
    on a device without blocks."""
    threads = min(Device[device].renderer.target.block_threads, MOST_THREADS)
    data = np.arange(4 * MOST_THREADS)
    total, opt = on(device, data, dtypes.float).sum(), Opt(OptOps.GROUP, 0, threads)
    return _made_of(total, [opt], data.sum(keepdims=True)) if threads else ""


def conditions(device: str) -> str:
    """A STORE whose condition is false writes nothing: 7 numbers, four at a time, are 8."""
    x = on(device, [0] * 7, dtypes.float)
    in_place = x.assign(x + 1)
    return _made_of(in_place, [Opt(OptOps.UPCAST, 0, 4)], np.ones(7), room=1)


PARTS: dict[str, Callable[[str], str]] = {
    "names": names, "memory": memory, "launches": launches, "order": order,
    "shares of a loop": shares, "blocks of threads": blocks, "conditions of stores": conditions,
}  # fmt: skip
