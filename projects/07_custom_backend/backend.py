"""Project 7: A device of your own. Memory, a compiler, a runner: what lies beneath every Tensor.

Everything you've computed in this course ended on somebody else's device. `Tensor([1, 2, 3])` asked
for twelve bytes, and somebody handed them over. C came out, and somebody ran it. You have been
through the whole building by now, except for the basement. It's empty. Write four small classes,
and a device called MY moves in: networks train on it, and nobody upstairs notices.

    python projects/07_custom_backend                       what works, what is open, and how fast
    python -m classroom grade projects/07_custom_backend    100 points, and a hint for each miss

This file is yours. Replace each `...` with your code, and add functions, or whole files beside this
one, as you like. (`__main__.py` prints the report; there's nothing to write in it.) To hand it in,
zip the folder. The grader takes the zip, too.

The bases are there to build on: Allocator, Compiler, Runner, Compiled, and CStyleLanguage, which
writes the C. The rest has to be your own. You get no points for borrowing the allocator, compiler,
runner or device of CPU, PYTHON or any other device that comes with tinyframe, nor for a copy of
one, whatever you rename in it. (Borrowing wouldn't work anyway: where this file is graded, they
aren't there. A Tensor that names no device can still be made there, and copied to MY. It just can't
compute anywhere else.) `tinyframe/runtime/README.md` describes the four parts, and there's a whole
little backend in it. Leave it shut for as long as you can stand it. A copy of that one earns
nothing either.

You need parts 1 to 8 of the course, and about five hours.
"""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from tinyframe import Device, Tensor, TinyJit
from tinyframe.device import Allocator, Compiled, CompileError, Compiler, Runner
from tinyframe.renderer.cstyle import CStyleLanguage

# ---- A. memory -----------------------------------------------------------------------------------


class MyAllocator(Allocator):
    """Task 1 (14 points). Part A: bytes to compute in, and the way in and out.

    Try it alone, before there's a device: take memory, copy some bytes in, copy them out, compare.
    ctypes.create_string_buffer and ctypes.memmove are all you need.
    """

    def _alloc(self, size, options):
        """`size` bytes that a C function can work on.

        Return whatever suits you. tinyframe never looks inside; it only passes the thing back to
        your other methods, and to your runner. (`options` is for devices with several kinds of
        memory. Yours has one.) Just don't share it: where this is graded, memory belongs to one
        process, so mmap.mmap(-1, size) needs flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS.
        """
        ...

    def _free(self, opaque, options):
        """Nothing to do if Python owns the memory: it goes when nobody needs it any more."""

    def copyin(self, dst, src):
        """Copy all the bytes of the memoryview `src` to the beginning of `dst`, your memory.

        `src` may be read-only, it may be shorter than `dst`, and there will be zeros in it. C ends
        a text at the first zero, and some of ctypes does, too. Your bytes aren't text.
        """
        ...

    def copyout(self, dst, src):
        """Fill the memoryview `dst` with the first bytes of `src`, your memory."""
        ...


# ---- B. the compiler -----------------------------------------------------------------------------


def c_compiler():
    """The C compiler of this machine, as a command begins with it, such as ["/usr/bin/gcc"].

    It is $CC, or gcc, clang or cc, or else the one that start.py brought along. It's yours to use.
    """
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    found = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))), None)
    return [found] if found else [sys.executable, "-m", "ziglang", "cc"]


class MyCompiler(Compiler):
    """Task 2 (16 points). Part B: from C to machine code."""

    def compile(self, src):
        """The bytes of the shared library that a C compiler makes of the text `src`.

        subprocess.run starts the compiler, which writes a file. Read it, then remove it.
        tinyframe compiles several kernels at once, in threads, so no two calls may write to the
        same file. These flags of c_compiler() matter:

            -shared -fPIC -o FILE    make a shared library, and put it there
            -x c -                   read C from the input (or name a .c file instead)
            -O2                      or else a matmul takes ten times as long
            -fwrapv                  2147483647 + 1 is -2147483648. Without this flag, C is free to
                                     assume that no integer ever overflows. tinyframe's do
            -w                       no warnings. Nobody reads them
            -lm                      the library of sqrtf and friends; last in the command

        And -ffast-math is a trap: it makes C forget what NaN is. If the compiler refuses, raise
        CompileError(its words, src). Some night you'll be glad of those words.
        """
        ...


# ---- C. the runner -------------------------------------------------------------------------------


class MyRunner(Runner):
    """Task 3 (20 points). Part C: load the machine code, and call it.

    In the library of a kernel called E_4 there's a function for you to call,

        void E_4_entry(void** bufs, const long long* vals, int start, int stop)

    bufs: an array of addresses, where the memory of each argument begins. vals: the values of the
    kernel's Variables. start, stop: which turns of its outermost loop to run, from `start` up to
    but not including `stop`. There are global_size[0] turns in all.
    """

    def __init__(self, name, lib):
        """name: the kernel's, such as "E_4". lib: what your compiler returned.

        ctypes.CDLL loads a library from a file, one on disk (os.memfd_create isn't there where this
        is graded). Careful: if it has seen that file's name before, you get the library that was in
        there the first time.
        """
        ...

    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        """Run the kernel on `bufs`: what your allocator returned, in the order of its arguments.

        global_size is three numbers, and on a processor like yours the second and third are 1. A
        GPU would run all global_size[0] turns at once. You run them in Python, one after the other:
        for turn n, start is n and stop is n + 1. (local_size is (1, 1, 1). Leave it alone.)

        vals: numbers, one for each Variable of the kernel. If `wait` is true, return how many
        seconds it took, as a float. Otherwise, return None.
        """
        ...


# ---- D. the device -------------------------------------------------------------------------------


class MyDevice(Compiled):
    """Task 4 (14 points). Part D: put it together, and register it as MY.

    Compiled.__init__ takes the device's name, an allocator, a language, a compiler, and the *class*
    of the runners, since every kernel gets a runner of its own. Then, in the line below this class,
    tell tinyframe that MY exists: Device._devices["MY"] = MyDevice. From then on,

        (Tensor([1, 2, 3], device="MY") + Tensor([4, 5, 6], device="MY")).tolist()

    is [5, 7, 9], and you arranged every byte and every instruction of that yourself. ("MY:1" is a
    second device of the same class. `device` is "MY:1" then.)
    """

    def __init__(self, device):
        ...


...


# ---- E. how fast is it, and why not faster? ------------------------------------------------------


def benchmark(devices, n):
    """Task 5 (10 points). Part E: an n x n matmul on each device, and what a launch costs there.

    devices: names, such as ["MY", "CPU"]. Return a list of dicts, one for each, in this order:

    "device"     its name
    "seconds"    what one matmul takes: float32, both factors already in the device's memory
    "gflops"     2 * n**3 operations, in how many billions a second
    "launch"     the seconds it takes to launch one kernel that computes next to nothing: a Tensor
                 of one element, plus 1
    "share"      launch / seconds: how much of a matmul is only the launch. (A tiny matmul and a
                 noisy clock can make that more than 1. Leave it so.)

    Measuring is harder than it looks. One step is too short, so put twenty or more into a TinyJit,
    each on the result of the one before, and realize() each of them; then divide. A TinyJit's first
    call compiles and its second one captures: start the clock after those. Of five calls or more,
    take the quickest, since your machine has other things to do. And some devices come back before
    they're done. Device[name].synchronize() waits. Without it I measured 540 GFLOP/s on a laptop's
    worth of processor, and was proud for about a minute.
    """
    ...


def explained(rows):
    """Task 6 (10 points). Part E again: why are the slower devices slower? Say it with numbers.

    rows: what benchmark() returned. Compare each device with the fastest one, which has the most
    "gflops". Return a list of dicts, one for each of the others, in the order of `rows`:

    "device"    its name
    "times"     how many times as long a matmul takes there
    "launch"    how much of the difference in "seconds" is the difference in "launch": a fraction
                from 0 (launches there cost no more than on the fastest, or even less) to 1
    "why"       "launch" if that is more than a half, otherwise "kernel": it's the machine code

    Say a matmul takes 5 ms on MY and 1 ms on CPU, and a launch 1 ms on MY and nothing on CPU. Then
    MY takes 5 times as long, a quarter of the 4 ms is the launch, and the reason is "kernel".
    """
    ...


# ---- F. is it right? -----------------------------------------------------------------------------


def conformance(only=""):
    """Task 7 (16 points). Part F: a table without a single NO. There's nothing to write here.

    A line for each operation, a column for each dtype, and in each cell the numbers at which things
    go wrong first: the least and the largest, infinities, NaN, zeros of both signs. A cell that is
    wrong says NO, and the first such cell is shown with the C that did it. My bet is on your flags,
    `vals`, or a copy. `only` picks lines: conformance("Variables"). All of them take a minute or
    two, and the same table comes from

        python -m tinyframe.runtime.conformance --module projects/07_custom_backend/backend.py MY
    """
    from tinyframe.tools import conformance

    return conformance.run("MY", print, only)
