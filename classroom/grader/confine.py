"""The first steps of a confined process: it gives up what it must not have, then does its work.

Run as `python -I -S confine.py '{"main": …}'`, with nothing of the project imported before:
limits, then folders hidden in the mount namespace, then capabilities dropped, then Landlock. Where
one of these is asked for and fails, the process ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
import sys
from typing import Any

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
MS_RDONLY, MS_REC_PRIVATE = 1, (1 << 14) | (1 << 18)
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
        "RLIMIT_CORE": 0,
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


def hide(folders: list[str]) -> bool:
    """Puts an empty folder over each, in this mount namespace alone; whether it worked."""
    mount = libc().mount
    if mount(b"none", b"/", None, MS_REC_PRIVATE, None) != 0:
        return False
    over = [mount(b"tmpfs", os.fsencode(f), b"tmpfs", MS_RDONLY, b"size=4k") for f in folders]
    return not any(over)


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


def restrict(readable: list[str], writable: list[str]) -> bool:
    """From here on only these folders can be read, and only these written; whether it worked."""
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
    devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
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


def main() -> None:
    told = json.loads(sys.argv[1])
    os.chdir(told["work"])
    os.umask(0o077)
    os.nice(5)  # the warden goes first, however many processes there will be
    set_limits(told["limits"])
    if sys.platform == "linux":
        if told["hide"] and not hide(told["hide"]):
            sys.exit("answers could not be hidden")
        if not drop_capabilities():
            sys.exit("capabilities could not be dropped")
        if told["landlock"] and not restrict(told["readable"], told["writable"]):
            sys.exit("files could not be closed off")
    # Numbers of their own, which programs that are started from here do not get.
    ends = [os.dup(end) for end in told["ends"]]
    for end in told["ends"]:
        os.close(end)
    del sys.argv[1:]
    sys.path[:] = told["path"] + [p for p in sys.path if p]
    if told["main"] is None:
        return
    from importlib import import_module

    channel = import_module("classroom.grader.channel").Channel(*ends)
    import_module(told["main"]).main(channel, told["submission"])


if __name__ == "__main__":
    main()
