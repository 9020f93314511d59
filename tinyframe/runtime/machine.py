"""What processor this is, and what caches it has: asked of Linux' files and of macOS' sysctl."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import platform
import sys
from pathlib import Path

# the first processor
_CPU = Path("/sys/devices/system/cpu/cpu0")
# what Linux says of the processors, and where it is told what board it runs on, of that
_CPUINFO, _BOARD = Path("/proc/cpuinfo"), Path("/proc/device-tree/model")


def _first_processor() -> dict[str, str]:
    """What Linux says of the first processor, by name; empty elsewhere."""
    facts = {}
    with contextlib.suppress(OSError), open(_CPUINFO, encoding="utf-8", errors="replace") as table:
        for line in itertools.takewhile(str.strip, table):  # a large machine takes long to list all
            name, _, value = line.partition(":")
            facts[name.strip()] = value.strip()
    return facts


def processor_name() -> str:
    """As people call it: "Apple M2", or what Linux names "model name". That has none for ARM; there
    it is the board ("Raspberry Pi 5 Model B Rev 1.0"), or else the architecture."""
    if sys.platform == "darwin":
        return _sysctl_text("machdep.cpu.brand_string") or platform.machine()
    if name := _first_processor().get("model name"):
        return name
    with contextlib.suppress(OSError):
        return _BOARD.read_text(errors="replace").rstrip("\0")
    return platform.machine()


@functools.cache
def machine_identity() -> str:
    """The kind of processor, so that what was compiled for one is not run on another.

    A home directory, and the cache in it, may be shared by different machines.
    """
    names = ("model name", "flags", "Features", "isa", "CPU implementer", "CPU part")
    facts = _first_processor() or {names[0]: _sysctl_text("machdep.cpu.brand_string")}
    said = [facts[name] for name in names if name in facts]
    return "\n".join([sys.platform, platform.machine(), *said])


@functools.cache
def cache_sizes() -> tuple[int, int, int]:
    """Bytes of the first- and second-level data cache of one core, and of the third, which cores
    share; 0 for none.

    On many ARM machines cores share the second level too. Then a core's is its part of that, and
    all of it stands for the third where there is none.
    """
    (l1, _), (l2, sharing), (l3, _) = _caches_of_macos() if sys.platform == "darwin" else _caches()
    shared = l2 if sharing > 1 else 0
    return l1 or 32 << 10, l2 // sharing or 512 << 10, l3 or shared


def _caches_of_macos() -> list[tuple[int, int]]:
    """(bytes, cores that share them) of the data caches of levels 1 to 3."""

    # perflevel0 is the fast cores; Intel machines have only the plain names.
    def ask(name: str) -> int:
        return _sysctl_int(f"hw.perflevel0.{name}") or _sysctl_int(f"hw.{name}")

    sizes = [ask(f"{level}cachesize") for level in ("l1d", "l2", "l3")]
    return list(zip(sizes, (1, ask("cpusperl2") or 1, 1), strict=True))


def _caches() -> list[tuple[int, int]]:
    """The same as Linux lists them."""
    found = [(0, 1)] * 3
    threads = _count(_CPU / "topology" / "thread_siblings_list")  # of one core
    for cache in (_CPU / "cache").glob("index*"):
        try:
            level = int((cache / "level").read_text())
            size = (cache / "size").read_text().strip()
            if (cache / "type").read_text().strip() == "Instruction" or level > 3:
                continue
            unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1)
            cores = max(1, _count(cache / "shared_cpu_list") // threads)
            found[level - 1] = int(size.rstrip("KM")) * unit, cores
        except (OSError, ValueError):
            continue
    return found


def _count(list_of_cpus: Path) -> int:
    """How many a list such as "0-3,8" names; 1 where there is none."""
    try:
        spans = [span.split("-") for span in list_of_cpus.read_text().strip().split(",")]
        return sum(int(span[-1]) - int(span[0]) + 1 for span in spans)
    except (OSError, ValueError):
        return 1


def _sysctl(name: str) -> bytes:
    try:
        libc = ctypes.CDLL(None)
        size = ctypes.c_size_t(256)
        value = ctypes.create_string_buffer(256)
        failed = libc.sysctlbyname(name.encode(), value, ctypes.byref(size), None, 0)
        return b"" if failed else value.raw[: size.value]
    except (OSError, AttributeError):
        return b""


def _sysctl_int(name: str) -> int:
    return int.from_bytes(_sysctl(name), sys.byteorder)


def _sysctl_text(name: str) -> str:
    return _sysctl(name).rstrip(b"\0").decode(errors="replace")
