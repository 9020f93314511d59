"""The first steps of a confined process: it gives up what it must not have, then does its work.

Run as `python -I -S confine.py '{"main": …}'`, with nothing imported before but the steps: limits,
a session keyring and, in the mount namespace, a root of its own, then capabilities dropped, then
Landlock, and the filter of system calls last, since it denies what the others are made with. Where
one of these is asked for and fails, the process ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import struct
import sys
from typing import Any

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
JOIN_KEYRING = {"x86_64": 250, "aarch64": 219}  # keyctl
# Landlock, Linux 5.13 and newer (see linux/landlock.h): read, write and run files; bind and connect
# by TCP from version 4; signals and abstract sockets from version 6.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, list a folder
WRITE_FILE = 1 << 1
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many each version knows; 16 from version 5 on


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def set_limits(limits: dict[str, Any]) -> None:
    """Address space, file size, open files, CPU seconds, processes; no core files."""
    wanted = {
        "RLIMIT_AS": limits["address_space"],
        "RLIMIT_FSIZE": limits["disk"] // 4,  # of one file, one that is only in memory too
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CPU": limits["cpu_seconds"],
        "RLIMIT_NPROC": limits["processes"],
        "RLIMIT_CORE": 1,  # less than any: with 0 it still goes to a program that collects them
    }
    for name, most in wanted.items():
        which = getattr(resource, name, None)
        if which is None or most is None:
            continue
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(which, (most, most))
        except (OSError, ValueError):  # macOS refuses some of them
            continue


def join_new_keyring() -> None:
    """A session keyring of its own: in the grader's are its tickets, and the last one's notes."""
    number = JOIN_KEYRING.get(platform.machine())
    if number is not None:  # where it is refused, as in Docker, no keyring can be reached at all
        libc().syscall(number, 1, None)


def drop_capabilities() -> bool:
    """Root of a namespace may mount and unmount there; after this it may not. Whether it worked."""
    calls = libc()
    calls.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        calls.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    return calls.capset(header, nothing) == 0


def landlock_version() -> int:
    """0 where there is no Landlock."""
    return max(0, libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def restrict(readable: list[str], writable: list[str], devices: list[str]) -> bool:
    """From here on only these files and folders can be used, and those below; did it work?"""
    version = landlock_version()
    if version == 0:
        return False
    calls = libc()
    rights = (1 << FILE_RIGHTS.get(version, 16)) - 1
    rules = struct.pack("QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = calls.syscall(CREATE_RULESET, rules, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    allowed = [(path, READ) for path in readable] + [(path, rights) for path in writable]
    allowed += [(path, (1 << 2) | WRITE_FILE) for path in devices]
    for path, access in allowed:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not os.path.isdir(path):
            access &= (1 << 0) | (1 << 1) | (1 << 2) | ((1 << 14) & rights)
        calls.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", access & rights, place), 0)
        os.close(place)
    calls.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done = calls.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


def prepare(told: dict[str, Any]) -> None:
    """Folders and the submission, in the folder that it works in; a new one, or the grader's."""
    os.chdir(told["work"])
    for name in told["folders"]:
        os.makedirs(name, mode=0o700, exist_ok=True)
    for given, name in told["given"]:
        with open(given, "rb") as source, open(name, "wb") as copy:
            copy.write(source.read())
    if told["kernels"]:
        import zipfile

        with zipfile.ZipFile(told["kernels"]) as kernels:
            kernels.extractall("cache")


def main() -> None:
    told = json.loads(sys.argv[1])
    os.chdir("/")
    os.umask(0o077)
    os.nice(5)  # the warden goes first, however many processes there will be
    set_limits(told["limits"])
    steps = [p for p in sys.path if p]
    sys.path[:] = [told["path"][0], *steps]
    if sys.platform == "linux":
        from classroom.grader import mounts, seccomp

        join_new_keyring()
        if told["root"]:
            os.umask(0o022)
            mounts.enter(told["root"], told["rows"])
            os.umask(0o077)
        if not drop_capabilities():
            sys.exit("capabilities could not be dropped")
        allowed = told["readable"], told["writable"], told["devices"]
        if told["landlock"] and not restrict(*allowed):
            sys.exit("files could not be closed off")
        if told["seccomp"] and not seccomp.install():
            sys.exit("system calls could not be denied")
    prepare(told)
    # Numbers of their own, which programs that are started from here do not get.
    ends = [os.dup(end) for end in told["ends"]]
    for end in told["ends"]:
        os.close(end)
    del sys.argv[1:]
    sys.path[:] = [*told["path"], *steps]
    from importlib import import_module

    if told["main"] == "classroom.grader.probe":
        import_module(told["main"]).main(told["tried"])
        return
    channel = import_module("classroom.grader.channel").Channel(*ends)
    import_module(told["main"]).main(channel, told["submission"])


if __name__ == "__main__":
    main()
