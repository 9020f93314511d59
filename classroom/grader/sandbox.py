"""Starts a confined process and asks it questions; the grader's side of warden.py and confine.py.

    with Workplace(limits, protection, submission) as place:
        peer = place.start("classroom.grader.answerer")
        peer.ask("value", {...}, arrays, seconds=5, by_clock=30)
        peer.end()          # {"ended": "closed", "printed": "", "characters": 0}

A Workplace is a temporary folder. `lib` holds copies of tinyframe and of what the process itself
needs of the grader, and `work` is the only folder that the process may write to: in namespaces it
is a new one, in memory and of limited size, with copies of what is `given`. There `root` becomes
the whole file system.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from classroom.grader import leftovers, seccomp, shut, turns
from classroom.grader.channel import Channel, Closed, Late, Malformed, Message
from classroom.grader.confine import landlock_version
from classroom.grader.handed_in import IN_A_FILE, Files
from classroom.grader.view import bubblewrap_words, packages, paths, view
from classroom.grader.warden import times

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SENT_ALONG = ("__init__", "confine", "mounts", "seccomp", "probe", "channel", "graphs",
              "expressions", "answerer", "referee")  # fmt: skip
KEPT_VARIABLES = ("PATH", "CC", "LD_LIBRARY_PATH", "SDKROOT", "DEVELOPER_DIR")
NAMESPACES = ("unshare", "--user", "--map-root-user", "--net", "--pid", "--ipc", "--fork",
              "--kill-child", "--mount-proc", "--")  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What a submission may take. Bytes; seconds that it computes or sleeps, see `Stopwatch`."""

    load_seconds: float = 10.0
    answer_seconds: float = 5.0
    total_seconds: float = 24.0
    clock: float = 6.0  # by the clock, so many times as many seconds, of each and of all of them
    memory: int = 2 << 30  # really used, by all its processes together
    address_space: int = 8 << 30  # of one process: what is reserved counts too
    processes: int = 64  # threads included
    output: int = 1 << 20
    disk: int = 256 << 20
    files: int = 2000

    def longer(self, times: float) -> Limits:
        """The same with so many times the time."""
        names = "load_seconds", "answer_seconds", "total_seconds"
        return replace(self, **{name: getattr(self, name) * times for name in names})


LOOPED = ". Is there an endless loop?"
SLEPT = ", for most of which it waited or slept"
LOOK_EVERY = 0.1  # seconds, at what a process takes
OTHER_USERS = 10_000  # what is added to a submission's user for the referee's


@dataclass(frozen=True)
class Protection:
    """Which protections a process gets beside its limits, and what they were seen to prevent."""

    user: int | None = None  # a user id of its own, where the grader is root
    wrapper: str = ""  # "namespaces" or "bubblewrap"
    landlock: int = 0  # its version
    seccomp: bool = False  # the filter of system calls
    held: frozenset[str] = frozenset()  # what could not be done when it was tried; see probe.py

    def rows(self) -> list[tuple[str, bool]]:
        """What a report says: each protection, and whether it was active."""
        linux = sys.platform == "linux"
        apart = bool(self.wrapper)
        return [
            ("own process, temporary copy, own compile cache, scrubbed environment", True),
            ("limits on time, memory, processes, output, disk", True),
            ("daemons found and ended", linux),
            (f"own namespaces: users, processes, network, files ({self.wrapper or 'none'})", apart),
            (f"Landlock: files, TCP, signals (version {self.landlock})", self.landlock >= 6),
            ("a filter of system calls (seccomp)", self.seccomp),
            ("a user of its own (where the grader is root)", self.user is not None),
            *((claim, self.held.issuperset(tried)) for claim, tried in CLAIMS),
        ]

    def for_referee(self) -> Protection:
        """The same for a process that a submission's must not be able to touch."""
        return self if self.user is None else replace(self, user=self.user + OTHER_USERS)


# What a report claims, each with what was tried and has to have failed (probe.py).
CLAIMS = [
    ("solutions out of its sight", ["read_answers"]),
    ("your private files out of its sight", ["read_private"]),
    ("writing outside its folder prevented", ["write_outside"]),
    ("network closed", ["call_by_tcp", "send_by_udp"]),
    ("sockets of other programs closed", ["call_by_file"]),
    ("signals to other programs prevented", ["signal_the_grader"]),
    ("keyrings closed", ["add_a_key"]),
    ("new namespaces prevented", ["make_namespaces"]),
    ("all memory and disk space counted", ["take_nameless_memory", "fill_the_disk"]),
]


# ---- what this machine has -----------------------------------------------------------------------


def best_protection() -> Protection:
    """The strongest that works here, found by trying."""
    return _first_that_works(os.environ.get("PATH", ""))


@functools.cache
def _first_that_works(path: str) -> Protection:
    leftovers.sweep()
    landlock = landlock_version() if sys.platform == "linux" else 0
    own = 40_000 + turns.number(10_000)  # not a user that exists, and within a container's range
    users = [own, None] if hasattr(os, "geteuid") and os.geteuid() == 0 else [None]
    for user in users:
        for wrapper in ("namespaces", "bubblewrap", ""):
            protection = Protection(user, wrapper, landlock, seccomp.is_available())
            if (found := tried(protection)) is not None:
                return found
    return Protection()


def tried(protection: Protection) -> Protection | None:
    """The same with what it was seen to prevent; None where no process starts with it."""
    with (
        Workplace(Limits(), protection, {}) as place,
        # Not in TMPDIR, which may be deep: the path of a socket has to be short.
        leftovers.temporary("/tmp") as outside,
        socket.socket(socket.AF_INET) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as nameless,
    ):
        private = outside / "private"
        private.touch(mode=0o600)
        common = [tempfile.gettempdir(), "/var/tmp", "/dev/shm", Path.home(), ROOT]
        folders = [outside, place.lib, place.lib / "tinyframe", *common]
        told: dict[str, Any] = {
            "folders": [str(folder) for folder in folders],
            "files": [str(private)],
            "answers": [str(path) for path in answers()],
            "sockets": [str(outside / "socket")],
            "grader": os.getpid(),
            "processes": "",
            "disk": place.limits.disk,
        }
        for listening, address in ((tcp, ("127.0.0.1", 0)), (named, told["sockets"][0])):
            listening.bind(address)
            listening.listen()
        udp.bind(("127.0.0.1", 0))
        if sys.platform == "linux":
            nameless.bind(f"\0tinyframe-probe-{secrets.token_hex(8)}")
            nameless.listen()
            told["sockets"].append(nameless.getsockname().decode())
            told["processes"] = os.readlink("/proc/self/ns/pid")
        told |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        held = place.probe(told)
        if held is not None and not _has_arrived(udp):  # it may have a 127.0.0.1 of its own
            held.append("send_by_udp")
    return None if held is None else replace(protection, held=frozenset(held))


def _has_arrived(udp: socket.socket) -> bool:
    udp.setblocking(False)
    try:
        return bool(udp.recv(1))
    except BlockingIOError:
        return False


def answers() -> list[Path]:
    """What in this repository tells the answers; a students' release has none of it."""
    if not (ROOT / "solutions").is_dir():
        return []
    return [path for name in ("solutions", "tests", ".git") if (path := ROOT / name).exists()]


# ---- a place to work in --------------------------------------------------------------------------


class Workplace:
    """A temporary folder for one submission; removed at the end, whatever was left in it."""

    def __init__(
        self,
        limits: Limits,
        protection: Protection,
        submission: Files,
        kernels: Path | None = None,
        is_alone: bool = False,
    ) -> None:
        self.protection, self.submission, self.kernels = protection, submission, kernels
        self.is_alone = is_alone
        self.limits = limits
        if kernels:
            with zipfile.ZipFile(kernels) as archive:
                self.limits = replace(limits, files=limits.files + len(archive.namelist()))

    def __enter__(self) -> Workplace:
        with contextlib.ExitStack() as undo:
            self.folder = undo.enter_context(leftovers.temporary())
            self._fill()
            self.undo = undo.pop_all()
        return self

    def _fill(self) -> None:
        self.folder.chmod(0o711)
        self.given, self.root = self.folder / "given", self.folder / "root"
        self.work = self.folder / "work"
        self.lib = self._library()
        for folder in (self.root, self.given, self.work):
            folder.mkdir(mode=0o700)
        for number, data in enumerate(self.submission.values()):
            (self.given / str(number)).write_bytes(data)
        if self.kernels:
            shutil.copy(self.kernels, self.given / "kernels.zip")
        self.give(self.root, self.given, *self.given.iterdir(), self.work)

    def _library(self) -> Path:
        """What its processes import: common to all places, if none of them can change it."""
        held = self.protection
        if held.wrapper or held.landlock or held.user is not None:
            return Path(common_library(self.is_alone).name)
        return _fill_library(self.folder / "lib", self.is_alone)

    def __exit__(self, *exc: object) -> None:
        self.undo.close()

    def give(self, *paths: Path) -> None:
        if self.protection.user is not None:
            for path in paths:
                os.chown(path, self.protection.user, self.protection.user)

    def probe(self, told: dict[str, Any]) -> list[str] | None:
        """What could not be done in here of what probe.py tries; None where nothing starts."""
        command = self._command("classroom.grader.probe", [], told)
        try:
            done = subprocess.run(
                command,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                **self._user(),
            )
            return json.loads(done.stdout) if done.returncode == 0 else None
        except (OSError, ValueError, subprocess.SubprocessError):
            return None

    def start(self, main: str) -> Peer:
        """A process that runs this module's main()."""
        return Peer(self, main)

    def _user(self) -> dict[str, Any]:
        user = self.protection.user
        return {} if user is None else {"user": user, "group": user, "extra_groups": []}

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k in KEPT_VARIABLES if (v := os.environ.get(k))}
        threads = {f"{k}_NUM_THREADS": "1" for k in ("OMP", "OPENBLAS", "MKL")}
        own = {
            "HOME": str(self.work / "home"),
            "TMPDIR": str(self.work / "tmp"),
            "TINYFRAME_CACHE": str(self.work / "cache"),
            "LANG": "C.UTF-8",
            "THREADS": "1",
            "PYTHONHASHSEED": "0",
        }
        return {**kept, **threads, **own} | ({"DEVICE": "PYTHON"} if self.is_alone else {})

    def _command(
        self, main: str, ends: list[int], tried: dict[str, Any] | None = None
    ) -> list[str]:
        limits, protection = self.limits, self.protection
        needed = [str(self.lib), str(self.given)]
        covered = [str(ROOT), *(f"{place}/tinyframe" for place in packages())]
        rows = view(needed, covered, str(self.work), limits.disk, limits.files)
        own_namespace = protection.wrapper == "namespaces"
        base = "" if IN_A_FILE in self.submission else "submission/"  # what it makes is beside it
        names = [f"{base}{name}" for name in self.submission]
        told = {
            "main": main,
            "ends": ends,
            "tried": tried,
            "root": str(self.root) if own_namespace else "",
            "rows": [[row.kind, row.path, row.more] for row in rows],
            "work": str(self.work),
            "folders": ["home", "tmp", "cache", *{os.path.dirname(name) for name in names} - {""}],
            "given": [[str(self.given / str(n)), name] for n, name in enumerate(names)],
            "kernels": str(self.given / "kernels.zip") if self.kernels else "",
            "submission": str(self.work / names[0]) if names else "",
            "path": [str(self.lib), *packages()],
            "landlock": protection.landlock > 0,
            "readable": paths(rows, "read", "proc"),
            "writable": paths(rows, "scratch"),
            "devices": paths(rows, "device"),
            "seccomp": protection.seccomp,
            "limits": self._rlimits(),
        }
        confine = str(self.lib / "classroom" / "grader" / "confine.py")
        python = [sys.executable, "-I", "-S", "-B", "-u", confine, json.dumps(told)]
        if protection.wrapper == "bubblewrap":
            return [*bubblewrap_words(rows), *python]
        return [*(NAMESPACES if own_namespace else ()), *python]

    def _rlimits(self) -> dict[str, Any]:
        limits = self.limits
        # The number of processes counts for the user: in a namespace, or as a user of its own, from
        # 0; else on top of what the user has, where that can be told.
        apart = bool(self.protection.wrapper) or self.protection.user is not None
        return {
            "address_space": limits.address_space if sys.platform == "linux" else None,
            "disk": limits.disk,
            "cpu_seconds": int(2 * limits.total_seconds) + 1,
            "processes": limits.processes + (0 if apart else tasks_of_user() or 0)
            if apart or tasks_of_user()
            else None,
        }


def tasks_of_user() -> int | None:
    """Processes and threads that this user has now; None where that cannot be told."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == os.getuid():
                count += len(os.listdir(process / "task"))
    return count or None


@functools.cache
def common_library(is_alone: bool) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix=leftovers.PREFIX)
    leftovers.hold(Path(folder.name))  # as long as this process lives
    _fill_library(Path(folder.name), is_alone)
    return folder


def _fill_library(folder: Path, is_alone: bool) -> Path:
    """tinyframe, mini's reference, and what of the grader a submission's process needs: making
    files takes long. is_alone: without the devices that are shipped, and without mini's."""
    copy_readable(ROOT / "tinyframe", folder / "tinyframe", "*")
    if is_alone:
        shut.close_devices(folder)
    else:
        copy_readable(ROOT / "solutions" / "mini", folder / "mini", "part*.py")
    copy_readable(HERE.parent, folder / "classroom", "__init__.py")
    copy_readable(HERE, folder / "classroom" / "grader", *(f"{name}.py" for name in SENT_ALONG))
    copy_readable(ROOT / "classroom" / "mini" / "sandboxed", folder / "classroom" / "mini", "*.py")
    folder.chmod(0o755)
    return folder


def copy_readable(source: Path, target: Path, *patterns: str) -> None:
    """Files and folders that match, with their compiled forms, so that any user can read them."""
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o755)
    for pattern in patterns:
        for path in source.glob(pattern):
            if path.is_dir():
                copy_readable(path, target / path.name, "*")
            elif path.is_file():
                shutil.copy2(path, target / path.name)  # with its time, or the .pyc would not count
                (target / path.name).chmod(0o644)


# ---- a process in it -----------------------------------------------------------------------------


class Stopwatch:
    """The seconds that processes took: of a processor, and those in which none of them wanted one.

    On a machine with more to do than it can, a process waits, for as long as others like. That time
    is not its own, and does not count.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.idle = 0.0
        self.last = monotonic()
        self.computed, _ = times(pid)
        self.seconds = 0.0

    def look(self, answered: bool = False) -> float:
        """Seconds since the beginning; to be called often."""
        computed, busy = times(self.pid)
        now = monotonic()
        if not (busy or answered):
            # The grader may have had to wait as well: what it did not see, it does not count.
            self.idle += min(now - self.last, 2 * LOOK_EVERY)
        self.last = now
        self.seconds = max(self.seconds, computed - self.computed + self.idle)
        return self.seconds


class Peer:
    """A confined process that answers. `ask` raises Late, Closed or Malformed; then it is over."""

    def __init__(self, place: Workplace, main: str) -> None:
        self.took = 0.0  # seconds of all questions so far
        with contextlib.ExitStack() as undo:
            question_read, question_write = os.pipe()
            answer_read, answer_write = os.pipe()
            for end in (question_read, question_write, answer_read, answer_write):
                undo.callback(os.close, end)
            ends = [question_read, answer_write]
            told = {
                "command": place._command(main, ends),
                "environment": place._environment(),
                "user": place._user(),
                "ends": ends,
                "work": str(place.work),
                "limits": asdict(place.limits),
            }
            self.warden = subprocess.Popen(
                [sys.executable, "-I", "-S", str(HERE / "warden.py"), json.dumps(told)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=ends,
                env=place._environment(),
                start_new_session=True,
            )
            undo.pop_all()
        for end in ends:
            os.close(end)
        self.channel = Channel(answer_read, question_write, self._look, LOOK_EVERY)
        self.status: dict[str, Any] | None = None

    def ask(
        self, kind: str, body: Any, arrays: list[np.ndarray], seconds: float, by_clock: float
    ) -> Message:
        """The answer to a question. Late after so many seconds of its own, which `took` counts, or
        so many by the clock."""
        nonce, until = secrets.token_hex(16), monotonic() + by_clock
        self.watch, self.most = Stopwatch(self.warden.pid), seconds
        try:
            self.channel.send(nonce, kind, body, arrays, until)
            answer = self.channel.receive(until)
        except Late:
            slept = self.watch.idle > seconds / 2
            raise Late(SLEPT if slept else LOOPED) from None
        except (Closed, Malformed):
            raise
        except Exception as error:  # whatever it sent: it is the answer that is at fault
            raise Malformed(type(error).__name__) from error
        finally:
            self.took += self.watch.look(answered=True)
        if answer.nonce != nonce:
            raise Malformed("an answer to a question that was not asked")
        return answer

    def _look(self) -> None:
        if self.watch.look() > self.most:
            raise Late

    def end(self, patience: float = 0.0) -> dict[str, Any]:
        """Ends the process and all that it started; what the warden saw.

        patience: seconds to wait for it to end by itself, so that the warden can say how.
        """
        if self.status is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.warden.wait(patience)
            self.channel.close()
            try:
                out, _ = self.warden.communicate(timeout=60)
                self.status = {"ended": "killed", "printed": "", "characters": 0, **json.loads(out)}
            except (subprocess.TimeoutExpired, ValueError):
                self.warden.kill()
                self.warden.communicate()
                self.status = {"ended": "killed", "printed": "", "characters": 0}
        return self.status
