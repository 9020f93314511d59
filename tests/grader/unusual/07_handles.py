"""Memory from the C library, named by numbers; more than one file's worth of helpers."""

import ctypes
import itertools
import pathlib
import subprocess
import tempfile
import time
from functools import partial

from tinyframe import Device
from tinyframe.device import Allocator, Compiled, Compiler
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]
PLACES: dict[int, int] = {}
NUMBERS = itertools.count(1)


class MyAllocator(Allocator):
    def _alloc(self, size, options):
        number = next(NUMBERS)
        PLACES[number] = LIBC.malloc(size)
        return number

    def _free(self, opaque, options):
        LIBC.free(PLACES.pop(opaque))

    def copyin(self, dst, src):
        ctypes.memmove(PLACES[dst], src.tobytes(), src.nbytes)

    def copyout(self, dst, src):
        target = (ctypes.c_ubyte * dst.nbytes).from_buffer(dst)
        ctypes.memmove(target, PLACES[src], dst.nbytes)


class MyCompiler(Compiler):
    """What it made before, it knows."""

    made: dict[str, bytes] = {}

    def compile(self, src):
        if src not in self.made:
            with tempfile.NamedTemporaryFile(suffix=".so") as file:
                made = subprocess.Popen(
                    [*c_compiler(), "-x", "c", "-", "-o", file.name, "-fPIC",  # noqa: F821
                     "-shared", "-O2", "-fwrapv", "-std=gnu11", "-lm"],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                )  # fmt: skip
                words = made.communicate(src.encode())[1].decode()
                if made.wait() != 0:
                    raise ValueError(f"no program: {words}")
                self.made[src] = pathlib.Path(file.name).read_bytes()
        return self.made[src]


class Loaded:
    """What runs a kernel, and is no Runner."""

    def __init__(self, name, lib):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / f"{name}.so"
        path.write_bytes(lib)
        self.call = getattr(ctypes.cdll.LoadLibrary(path), name + "_entry")

    def __call__(self, *bufs, wait=False, **sizes):
        start = time.perf_counter()
        given = (ctypes.c_void_p * len(bufs))(*(PLACES[number] for number in bufs))
        vals = sizes.get("vals", ())
        values = (ctypes.c_int64 * (len(vals) + 1))(*vals)
        grid = itertools.product(*(range(size) for size in reversed(sizes["global_size"])))
        for _, _, n in grid:
            self.call(given, values, n, n + 1)
        return time.perf_counter() - start if wait else None


MyRunner = Loaded


class MyLanguage(CStyleLanguage):
    """Told that there are four cores, so that loops are divided."""

    device = "MY"

    def __init__(self):
        super().__init__(Target(32, 16, threads=4, l1=32 << 10, l2=256 << 10))


def MyDevice(device):
    return Compiled(device, MyAllocator(), MyLanguage(), MyCompiler(), partial(Loaded))


Device._devices["MY"] = MyDevice


def explained(rows):
    fastest = min(rows, key=lambda row: row["seconds"])

    def one(row):
        longer = row["seconds"] - fastest["seconds"]
        part = max(0.0, min(1.0, (row["launch"] - fastest["launch"]) / longer))
        return {"device": row["device"], "times": row["seconds"] / fastest["seconds"],
                "launch": part, "why": "launch" if 2 * part > 1 else "kernel"}  # fmt: skip

    return list(map(one, filter(lambda row: row is not fastest, rows)))
