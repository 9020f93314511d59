"""The processor and its caches, from Linux's /sys and /proc or macOS's sysctl."""

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
# Linux's list of processors, and the name of the board if there is one
_CPUINFO, _BOARD = Path("/proc/cpuinfo"), Path("/proc/device-tree/model")


def _first_processor() -> dict[str, str]:
    """Linux's description of the first processor, by name; empty on other systems."""
    facts = {}
    with contextlib.suppress(OSError), open(_CPUINFO, encoding="utf-8", errors="replace") as table:
        for line in itertools.takewhile(str.strip, table):  # listing them all can be slow
            name, _, value = line.partition(":")
            facts[name.strip()] = value.strip()
    return facts


def processor_name() -> str:
    """The processor's usual name: "Apple M2", or Linux's "model name". On ARM, where Linux has
    none, the board ("Raspberry Pi 5 Model B Rev 1.0"), or else the architecture."""
    if sys.platform == "darwin":
        return _sysctl_text("machdep.cpu.brand_string") or platform.machine()
    if name := _first_processor().get("model name"):
        return name
    with contextlib.suppress(OSError):
        return _BOARD.read_text(errors="replace").rstrip("\0")
    return platform.machine()


def machine_is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


@functools.cache
def machine_identity() -> str:
    """Identifies the kind of processor, so that code compiled for one does not run on another:
    different machines may share a home directory, and the cache in it.
    """
    names = ("model name", "flags", "Features", "isa", "CPU implementer", "CPU part")
    facts = _first_processor() or {names[0]: _sysctl_text("machdep.cpu.brand_string")}
    said = [facts[name] for name in names if name in facts]
    return "\n".join([sys.platform, platform.machine(), *said])


@functools.cache
def cache_sizes() -> tuple[int, int, int]:
    """Sizes in bytes of a core's L1 and L2 data caches, and of the L3 cache that cores share; 0 if
    there is none.

    On many ARM machines cores share the L2. Then a core's L2 is its share of it, and if there is no
    L3, the whole L2 counts as the L3.
    """
    (l1, _), (l2, sharing), (l3, _) = _caches_of_macos() if sys.platform == "darwin" else _caches()
    shared = l2 if sharing > 1 else 0
    return l1 or 32 << 10, l2 // sharing or 512 << 10, l3 or shared


def _caches_of_macos() -> list[tuple[int, int]]:
    """(bytes, cores that share them) of the data caches of levels 1 to 3."""

    # perflevel0 are the fast cores; Intel machines have only the plain names
    def ask(name: str) -> int:
        return _sysctl_int(f"hw.perflevel0.{name}") or _sysctl_int(f"hw.{name}")

    sizes = [ask(f"{level}cachesize") for level in ("l1d", "l2", "l3")]
    return list(zip(sizes, (1, ask("cpusperl2") or 1, 1), strict=True))


def _caches() -> list[tuple[int, int]]:
    """The same on Linux."""
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
    """The number of processors in a list such as "0-3,8"; 1 if there is no list."""
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
