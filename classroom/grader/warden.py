"""Stands beside a confined process: keeps it within its limits, and leaves nothing of it behind.

Run as `python -I -S warden.py '{"command": …}'`. Its own stdin is its lifeline: when the grader
closes it, or dies, the process ends with all that it started. What happened goes to stdout as JSON:

    {"ended": "exit 0", "printed": "the first and last of what it wrote", "characters": 120}

On Linux it is a child subreaper: a daemon that leaves its parents becomes a child of the warden.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from typing import Any

PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG = 36, 1
# Seconds between looks at memory and processes; where ps has to be asked, it takes a while itself.
EVERY = 0.05 if sys.platform == "linux" else 0.25
KEPT = 2000  # characters of what was printed, of the beginning and of the end
# Bytes: where nothing denies memfd, memory can be held in files that are nowhere.
LEAST_LEFT = 128 << 20
IN_A_SOCKET = 256 << 10  # bytes that an end holds at most, where the filter keeps it as it is made
LONGEST = 4096 - 256  # bytes of a path, and of a name in it
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> dict[int, int]:
    """Every process below this one, with the bytes of memory that it holds."""
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        return _listed_by_ps(pid)
    found: dict[int, int] = {}
    pending = _children(pid)
    while pending:
        child = pending.pop()
        if child in found:
            continue
        found[child] = 0
        for thread in threads(child):  # the first may have ended, and then shows no memory
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"{thread}/statm") as file:
                    found[child] = max(found[child], int(file.read().split()[1]) * PAGE)
        pending += _children(child)
    return found


def threads(pid: int) -> list[str]:
    """The folders in /proc of a process's threads."""
    with contextlib.suppress(OSError):
        return [f"/proc/{pid}/task/{number}" for number in os.listdir(f"/proc/{pid}/task")]
    return []


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for thread in threads(pid):
        with contextlib.suppress(OSError), open(f"{thread}/children") as file:
            children += map(int, file.read().split())
    return children


def _listed_by_ps(pid: int) -> dict[int, int]:
    table = subprocess.run(["ps", "-Ao", "pid=,ppid=,rss="], capture_output=True, text=True).stdout
    rows = [tuple(map(int, line.split())) for line in table.splitlines()]
    found: dict[int, int] = {}
    while more := {p: rss << 10 for p, up, rss in rows if p not in found and up in {pid, *found}}:
        found |= more
    return found


def times(pid: int) -> tuple[float, bool]:
    """(seconds of a processor that the processes below this one took, whether one wants more).

    Where there is no /proc: (0, False), as if they slept, so that the clock decides.
    """
    if not os.path.exists(f"/proc/{pid}/stat"):
        return 0.0, False
    below = descendants(pid)
    ticks, busy = 0, not below  # with none below it, it is about to start one
    for child in below:
        with contextlib.suppress(OSError, IndexError, ValueError):
            # user and system time, its own and that of children whose end it has seen
            ticks += sum(map(int, _stat(f"/proc/{child}/stat")[11:15]))
            busy = busy or any(_stat(f"{thread}/stat")[0] in "RD" for thread in threads(child))
    return ticks / TICKS, busy


def _stat(path: str) -> list[str]:
    """The fields after the program's name, which may hold anything; the state comes first."""
    with open(path) as file:
        return file.read().rpartition(")")[2].split()


def memory_left() -> int:
    """Bytes that this machine can still give out; where that cannot be told, enough."""
    with contextlib.suppress(OSError, StopIteration, ValueError), open("/proc/meminfo") as table:
        return int(next(x for x in table if x.startswith("MemAvailable")).split()[1]) << 10
    return LEAST_LEFT


def disk_use(folder: str, most_files: int) -> tuple[int, int]:
    """(bytes, files) below a folder; stops counting where there are too many files."""
    size = files = 0
    pending = [folder]
    while pending and files <= most_files:
        path = pending.pop()
        if len(os.fsencode(path)) >= LONGEST:
            return size, most_files + 1  # what lies deeper could not be counted
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                files += 1
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                if files > most_files:
                    break
    return size, files


def folders_seen(folder: str, pids: list[int]) -> list[str]:
    """The folder under that name, once for each file system that it is in: the processes' own root
    may have another one there than this process sees."""
    found: dict[tuple[int, int], str] = {}
    for path in (folder, *(f"/proc/{pid}/root{folder}" for pid in pids)):
        with contextlib.suppress(OSError):
            status = os.stat(path)
            found.setdefault((status.st_dev, status.st_ino), path)
    return list(found.values())


def unseen(pids: list[int]) -> tuple[int, int]:
    """(bytes in sockets, bytes in files that are in no folder any more), which these processes hold
    open: memory and disk space that belong to nobody."""
    ends, files = set(), {}
    for folder in (f"{thread}/fd" for pid in pids for thread in threads(pid)):
        with contextlib.suppress(OSError):
            for path in (f"{folder}/{number}" for number in os.listdir(folder)):
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    one = status.st_dev, status.st_ino
                    if stat.S_ISSOCK(status.st_mode):
                        ends.add(one)
                    elif status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                        files[one] = status.st_blocks * 512
    return len(ends) * IN_A_SOCKET, sum(files.values())


class MemoryGroup:
    """A control group for all that a process takes together, whoever holds it; the kernel keeps it
    within `most` bytes. Only where this user may make one: see docs/sandbox.md."""

    # of version 1 and 2: where they are, what sets the limit, what counts who was killed by it
    VERSIONS = {
        "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"),
        "": ("/sys/fs/cgroup", "memory.max", "memory.events"),
    }  # fmt: skip

    def __init__(self, most: int) -> None:
        self.folder = self.parent = self.told = ""
        with contextlib.suppress(OSError), open("/proc/self/cgroup") as table:
            for line in table:
                _, kind, path = line.rstrip("\n").split(":", 2)
                if kind in self.VERSIONS and not self.folder:
                    self._make(*self.VERSIONS[kind], path.rstrip("/"), most)

    def _make(self, root: str, limit: str, told: str, path: str, most: int) -> None:
        folder = f"{root}{path}/tinyframe-grade-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            return
        try:
            with open(f"{folder}/{limit}", "w") as file:
                file.write(str(most))
            self.folder, self.parent, self.told = folder, f"{root}{path}", told
            for there in (self.folder, self.parent):  # in version 2 not both may have processes
                self.enter(there)
        except OSError:  # a group without a limit, or one that nobody may enter or leave
            self.folder = ""
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def enter(self, folder: str) -> None:
        """This process, and what it starts from now on, belongs to that group."""
        if self.folder:
            with open(f"{folder}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))

    def has_killed(self) -> bool:
        if not self.folder:
            return False
        with contextlib.suppress(OSError, ValueError), open(f"{self.folder}/{self.told}") as file:
            return int(dict(line.split() for line in file).get("oom_kill", "0")) > 0
        return False

    def remove(self) -> None:
        if self.folder:
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)


class Warden:
    """One process with all that it starts, from its beginning to the end of the last of them."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.limits = told["limits"]
        self.folder = told["work"]
        self.first, self.last, self.count = b"", b"", 0
        # its folder is in memory too
        self.group = MemoryGroup(self.limits["memory"] + self.limits["disk"])
        self.group.enter(self.group.folder)
        try:
            self.child = subprocess.Popen(
                told["command"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=told["ends"],
                env=told["environment"],
                start_new_session=True,
                **told["user"],
            )
        finally:
            self.group.enter(self.group.parent)
        for end in told["ends"]:
            os.close(end)

    def watch(self) -> str:
        """Waits until it ends, or has to; why it did."""
        assert self.child.stdout is not None
        out = self.child.stdout.fileno()
        os.set_blocking(out, False)
        rounds = 0
        streams = select.poll()  # not select: numbers from 1024 on are too much for that
        for stream in (0, out):
            streams.register(stream, select.POLLIN)
        while True:
            ready = [stream for stream, _ in streams.poll(1000 * EVERY)]
            if out in ready and not self.drain(out):
                streams.unregister(out)
            if 0 in ready and not os.read(0, 1):
                return "closed"  # what had been printed by then is drained
            if self.count > self.limits["output"]:
                return "output"
            if self.group.has_killed():
                return "memory"
            if (status := self.child.poll()) is not None:
                self.drain(out)
                return f"exit {status}" if status >= 0 else f"signal {-status}"
            processes = descendants(os.getpid())
            if len(processes) > self.limits["processes"]:
                return "processes"
            if sum(processes.values()) > self.limits["memory"] or memory_left() < LEAST_LEFT:
                return "memory"
            rounds += 1
            if rounds % 4 == 0:
                in_sockets, nameless = unseen(list(processes))
                if in_sockets + sum(processes.values()) > self.limits["memory"]:
                    return "memory"
                if (why := self.disk(list(processes), nameless)) is not None:
                    return why

    def disk(self, pids: list[int], size: int) -> str | None:
        files = 0
        for folder in folders_seen(self.folder, pids):
            used = disk_use(folder, self.limits["files"])
            size, files = size + used[0], files + used[1]
        if size > self.limits["disk"]:
            return "disk"
        return "files" if files > self.limits["files"] else None

    def drain(self, out: int) -> bool:
        """Takes what was printed; False where no more can come."""
        for _ in range(64):  # not for ever: somebody may print faster than this reads
            try:
                data = os.read(out, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.count += len(data)
            self.first += data[: KEPT - len(self.first)]
            self.last = (self.last + data)[-KEPT:]
        return True

    def end_all(self) -> None:
        """Kills everything below; what is orphaned meanwhile comes to this process, and goes too.

        By SIGSTOP first: what makes new processes as fast as it can is made to stand still.
        """
        until = time.monotonic() + 5
        self.child.kill()  # in a PID namespace all the others go with it, at once
        while time.monotonic() < until:
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in descendants(os.getpid()):
                    with contextlib.suppress(OSError):
                        os.kill(pid, number)
            with contextlib.suppress(OSError):
                os.killpg(self.child.pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return

    def printed(self) -> str:
        whole = self.first if self.count <= KEPT else self.first + b"\n...\n" + self.last
        return whole.decode(errors="replace")


def main() -> None:
    told = json.loads(sys.argv[1])
    if sys.platform == "linux":
        calls = ctypes.CDLL(None)
        calls.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader decides
    try:
        warden = Warden(told)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(json.dumps({"ended": f"not started: {error}", "printed": "", "characters": 0}))
        return
    why = warden.watch()
    warden.end_all()
    warden.group.remove()
    print(json.dumps({"ended": why, "printed": warden.printed(), "characters": warden.count}))


if __name__ == "__main__":
    main()
