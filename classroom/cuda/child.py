"""Runs a compiled kernel in a process that may hang or die: `child.py LIBRARY SECONDS < job`.

The job is a line of JSON, and then the bytes of all buffers. For each launch it prints a line of
JSON and then bytes: those of the buffers, and the accesses. It needs nothing beyond Python's own
library, so that it starts in a moment.
"""

import ctypes
import json
import mmap
import sys
from typing import Any

STACK = 256 << 10  # bytes, as in the emulator
ACCESS = 40  # bytes of one in its list


class Fault(ctypes.Structure):
    """What the emulator found."""

    _fields_ = [
        *[(name, ctypes.c_int) for name in ("kind", "is_write", "other_is_write", "line",
                                            "other_line")],
        *[(name, ctypes.c_uint) for name in ("thread", "block", "other_thread", "other_block")],
        *[(name, ctypes.c_longlong) for name in ("index", "size")],
        ("name", ctypes.c_char * 64),
    ]  # fmt: skip


def main(path: str, seconds: str) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass  # who started this has a limit of its own
    library = ctypes.CDLL(path)
    library.emulated_region.restype = ctypes.c_char_p
    library.emulated_watch.restype = ctypes.c_longlong
    job = json.loads(sys.stdin.buffer.readline())
    for launch in job["launches"]:
        run(library, launch, job["room"])


def run(library: ctypes.CDLL, launch: dict[str, Any], room: int) -> None:
    kept, values, sizes = list[Any](), list[int](), list[int]()
    for kind, value in launch["arguments"]:
        if kind == "number":
            values.append(value)
            sizes.append(0)
            continue
        gap = max(value, 4096) // 64 * 64 + 64  # as much of nothing before and behind it
        memory = mmap.mmap(-1, value + 2 * gap)
        view = (ctypes.c_char * len(memory)).from_buffer(memory)
        ctypes.memmove(ctypes.addressof(view) + gap, sys.stdin.buffer.read(value), value)
        kept.append((view, gap, value))
        values.append(ctypes.addressof(view) + gap)
        sizes.append(value)
    count = len(values)
    words = (ctypes.c_longlong * count)(*values)
    first = ctypes.addressof(words)
    given = (ctypes.c_void_p * count)(*[first + 8 * n for n in range(count)])
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    room_for_stacks = mmap.mmap(-1, threads * STACK + 64)
    stacks = (ctypes.c_char * len(room_for_stacks)).from_buffer(room_for_stacks)
    start = ctypes.addressof(stacks)
    fault, accesses = Fault(), (ctypes.c_char * (ACCESS * room))()
    library.emulated_watch(accesses, ctypes.c_longlong(room))
    library.emulate(
        count, given, (ctypes.c_longlong * count)(*sizes), (ctypes.c_uint * 3)(*launch["grid"]),
        (ctypes.c_uint * 3)(*launch["block"]), int(launch["races"]),
        ctypes.c_void_p(start + -start % 64), ctypes.byref(fault),
    )  # fmt: skip
    regions = list[tuple[str, int, int]]()
    elements, element, reads = (ctypes.c_longlong() for _ in range(3))
    while name := library.emulated_region(
        len(regions), ctypes.byref(elements), ctypes.byref(element), ctypes.byref(reads)
    ):
        regions.append((name.decode(), elements.value, reads.value))
    total = library.emulated_watch(None, ctypes.c_longlong(0))
    found = {name: getattr(fault, name) for name, *_ in Fault._fields_}
    found["name"] = fault.name.decode(errors="replace")
    said = {"fault": found, "regions": regions, "accesses": total}
    out = sys.stdout.buffer
    out.write(json.dumps(said).encode() + b"\n")
    for view, gap, size in kept:
        out.write(ctypes.string_at(ctypes.addressof(view) + gap, size))
    out.write(ctypes.string_at(accesses, ACCESS * min(total, room)))
    out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
