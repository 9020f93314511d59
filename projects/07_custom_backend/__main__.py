"""The report on your device: `python projects/07_custom_backend`. There's nothing to write here.

    python projects/07_custom_backend          everything but the whole table of conformance
    python projects/07_custom_backend table    the whole table too, which takes a minute or two
"""

import ctypes
import faulthandler
import os
import sys

faulthandler.enable()  # if C crashes, and Python with it, this prints the line that called it

import backend
import numpy as np

from tinyframe import Device, Tensor
from tinyframe.tools import conformance as table

SIZES = (256, 8)
QUICK = ("memory", "launches", "less", "sum", "Variables")  # lines of the table
measured = {}  # by size


class Open(Exception):
    """A task without an answer."""


def written(answer):
    """The answer of a task; Open where there is none."""
    if answer is None or answer is ...:
        raise Open
    return answer


def allocator():
    """MyAllocator: a round trip"""
    mine, data = backend.MyAllocator(), os.urandom(1000)
    memory = written(mine.alloc(len(data)))
    mine.copyin(memory, memoryview(data))
    back = bytearray(len(data))
    mine.copyout(memoryview(back), memory)
    wrong = [n for n, (a, b) in enumerate(zip(data, back, strict=True)) if a != b]
    if wrong:
        return f"{len(wrong)} of {len(data)} bytes are different; the first is byte {wrong[0]}"
    return f"{len(data)} bytes went in, and the same ones came out"


def compiler():
    """MyCompiler: void kernel(float* a) { a[0] = 42.0f; }"""
    lib = written(backend.MyCompiler().compile("void kernel(float* a) { a[0] = 42.0f; }\n"))
    begins = "ELF" if lib[:4] == b"\x7fELF" else lib[:4].hex(" ")
    return f"{len(lib):,} bytes of machine code, which begin with {begins}"


ENTRY = """
void twice_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int i = start; i < stop; i++) ((float*)bufs[0])[i] = 2.0f * ((const float*)bufs[1])[i];
}
"""


def runner():
    """MyRunner: twice as much, in four turns"""
    memory = backend.MyAllocator()
    out, given = (written(memory.alloc(16)) for _ in range(2))
    memory.copyin(given, memoryview(np.array([1, 2, 3, 4], np.float32)).cast("B"))
    run = backend.MyRunner("twice", written(backend.MyCompiler().compile(ENTRY)))
    seconds = written(run(out, given, global_size=(4, 1, 1), local_size=(1, 1, 1), wait=True))
    back = bytearray(16)
    memory.copyout(memoryview(back), out)
    found = np.frombuffer(back, np.float32).tolist()
    return f"[1, 2, 3, 4] became {found} in {seconds * 1e6:.0f} us"


def device():
    """MyDevice: [1, 2, 3] + [4, 5, 6], on MY"""
    if "MY" not in Device._devices:
        raise Open
    return str((Tensor([1, 2, 3], device="MY") + Tensor([4, 5, 6], device="MY")).tolist())


def others():
    """The devices of this machine that are worth a comparison: an emulator isn't."""
    there = [name for name in ("CPU", "CL", "CUDA") if Device.why_not(name) is None]
    return [name for name in there if Device[name].times_kernels]


def benchmark():
    """benchmark: two sizes, on every device that is here"""
    if "MY" not in Device._devices:
        raise Open
    lines = []
    for n in SIZES:
        measured[n] = written(backend.benchmark(["MY", *others()], n))
        lines.append(f"{f'{n} x {n}':12}{'ms':>10}{'GFLOP/s':>10}{'launch, us':>12}{'share':>8}")
        lines += [
            f"    {row['device']:8}{row['seconds'] * 1e3:10.4f}{row['gflops']:10.2f}"
            f"{row['launch'] * 1e6:12.1f}{row['share']:8.1%}"
            for row in measured[n]
        ]
    return "\n".join(lines)


REASONS = {"launch": "most of that is the launch", "kernel": "most of that is the machine code"}


def explained():
    """explained: why the slower ones are slower"""
    lines = []
    for n in SIZES:
        for row in written(backend.explained(measured.get(n, []))):
            said = f"takes {row['times']:.1f} times as long; {REASONS[row['why']]}"
            said += f" ({row['launch']:.0%} is the launch)"
            close = row["times"] < 1.1
            lines.append(f"{n} x {n}: {row['device']} {'is about as fast' if close else said}")
    return "\n".join(lines)


def conformance():
    """conformance: some lines of the table (with the argument `table`, all of it)"""
    if "MY" not in Device._devices:
        raise Open
    if "table" in sys.argv[1:]:
        stories = backend.conformance()
        return stories[0] if stories else "nothing is wrong"
    stories, lines = [], []
    for only in QUICK:
        stories += table.run("MY", lines.append, only)
    return "\n".join([*dict.fromkeys(lines), "", *stories[:1]])


def main():
    print("A device of your own\n")
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        print("This Python has 32 bits; CStyleLanguage writes C for 64.\n")
    is_open = []
    tasks = (allocator, compiler, runner, device, benchmark, explained, conformance)
    for number, task in enumerate(tasks, 1):
        print(f"{number}. {task.__doc__}")
        try:
            text = task()
        except Open:
            text = "open"
            is_open.append(number)
        except Exception as error:
            if not is_open:  # then it is a mistake, and its traceback tells where
                raise
            text = f"open: it waits for task {is_open[0]} ({type(error).__name__}: {error})"
        print("\n".join(f"    {line}".rstrip() for line in text.splitlines()) + "\n")
    if not is_open:
        print("That's a device. import backend, set Device.DEFAULT = 'MY', and train something.")


if __name__ == "__main__":
    main()
