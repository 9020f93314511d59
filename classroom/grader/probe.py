"""Tries what a report says that a submission cannot do; the first thing to run in a sandbox.

Each function does one of these things, and returns or raises OSError. Where it raises, the
protection holds. `told` says where the grader put something to be found: a folder of its own with a
file in it, listening sockets, its process, and the files with the answers.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import platform
import socket
import sys
from collections.abc import Callable
from typing import Any

# By number, for want of functions: add_key, shmget and unshare.
NUMBERS = {"x86_64": (248, 29, 272), "aarch64": (217, 194, 97)}
IPC_PRIVATE, SESSION_KEYRING = 0, -3


def write_outside(told: dict[str, Any]) -> None:
    """A new file in one of these folders, or the end of one that is there."""
    _any(_write, told["folders"])


def _write(folder: str) -> None:
    path = os.path.join(folder, f"tinyframe-probe-{os.getpid()}")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def read_answers(told: dict[str, Any]) -> None:
    """Solutions, tests, and the history that they are in."""
    _any(lambda path: os.close(os.open(path, os.O_RDONLY)), told["answers"])


def read_private(told: dict[str, Any]) -> None:
    """What only the grader may read; for root that is a lot."""
    _any(lambda path: open(path, "rb").close(), [*told["files"], "/etc/shadow"])


def call_by_tcp(told: dict[str, Any]) -> None:
    socket.create_connection(("127.0.0.1", told["tcp"]), 5).close()


def send_by_udp(told: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"x", ("127.0.0.1", told["udp"]))


def call_by_file(told: dict[str, Any]) -> None:
    """A socket that is a file, as Docker's and X's are, or has only a name."""
    _any(_connect, told["sockets"])


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(address)


def signal_the_grader(told: dict[str, Any]) -> None:
    if told["processes"] and os.readlink("/proc/self/ns/pid") != told["processes"]:
        raise PermissionError("that number is another process here")
    os.kill(told["grader"], 0)


def add_a_key(told: dict[str, Any]) -> None:
    _call(0, b"user", b"tinyframe-probe", b"x", ctypes.c_size_t(1), SESSION_KEYRING)


def take_nameless_memory(told: dict[str, Any]) -> None:
    """Memory that no process holds: a file without a name, or of System V; shared pages, which stay
    when all but one of them is given back; more than usual on its way through a socket."""
    kinds = [lambda: os.memfd_create("x"), _share, lambda: mmap.mmap(-1, 4096), _map_zeros, _widen]
    _any(lambda take: take(), kinds)


def _map_zeros() -> None:
    with open("/dev/zero", "r+b") as file:
        mmap.mmap(file.fileno(), 4096)


def _widen() -> None:
    pair = socket.socketpair()
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)


def _share() -> None:
    _call(1, IPC_PRIVATE, ctypes.c_size_t(1), 0)


def make_namespaces(told: dict[str, Any]) -> None:
    """To be root in one's own namespace is what many holes of kernels begin with."""
    _call(2, 0x10000000)


def fill_the_disk(told: dict[str, Any]) -> None:
    """The folder it works in has no more room than it may use, for files without a name too."""
    room = os.statvfs(".")
    if room.f_blocks * room.f_frsize <= told["disk"]:
        raise OSError("no more room")


TRIED: dict[str, Callable[[dict[str, Any]], None]] = {
    function.__name__: function
    for function in (
        write_outside, read_answers, read_private, call_by_tcp, send_by_udp, call_by_file,
        signal_the_grader, add_a_key, take_nameless_memory, make_namespaces, fill_the_disk,
    )
}  # fmt: skip


def _any(act: Callable[[Any], object], things: list[Any]) -> None:
    """Returns where it can be done with any of these; else raises OSError."""
    for thing in things:
        try:
            act(thing)
            return
        except (OSError, AttributeError):  # AttributeError: this system does not have it
            continue
    raise PermissionError("with none of them")


def _call(number: int, *arguments: Any) -> None:
    calls = ctypes.CDLL(None, use_errno=True)
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        return  # not known, and so not said to be closed
    if calls.syscall(numbers[number], *arguments) < 0:
        raise OSError(ctypes.get_errno(), "denied")


def main(told: dict[str, Any]) -> None:
    """Writes the names of what could not be done, as JSON."""
    held = []
    for name, attempt in TRIED.items():
        try:
            attempt(told)
        except OSError:
            held.append(name)
    json.dump(held, sys.stdout)
