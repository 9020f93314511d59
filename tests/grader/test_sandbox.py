"""Each way out is closed where the report claims so, with all, some and none of the protections."""

import ctypes
import functools
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.grader import sandbox, seccomp, view
from classroom.grader.judge import grade
from classroom.grader.report import as_json
from classroom.grader.sandbox import (
    CLAIMS,
    ROOT,
    Limits,
    Protection,
    Workplace,
    answers,
    best_protection,
    tried,
)
from tests.grader import holes
from tests.grader.here import TOY, without
from tests.grader.holes import CALL, HOLES

LIMITS = Limits(disk=8 << 20, files=300)
SETTINGS = {
    "all": (),
    "namespaces": ("landlock", "seccomp"),
    "Landlock": ("wrapper", "seccomp"),
    "seccomp": ("wrapper", "landlock"),
    "nothing": ("user", "wrapper", "landlock", "seccomp"),
}
COLUMN = seccomp.ARCHITECTURES[platform.machine()][1]
BUBBLEWRAP = ["bubblewrap"] if shutil.which("bwrap") else []


@functools.cache
def protection(setting):
    best = best_protection()
    if setting == "bubblewrap":
        alone = replace(best, user=None, wrapper="bubblewrap", landlock=0, seccomp=False)
        found = tried(alone)
        assert found is not None
        return found
    return without(best, *SETTINGS[setting]) if SETTINGS[setting] else best


def claims(protection):
    return {name for name, active in protection.rows() if active}


def said(path, protection, limits=LIMITS):
    report = grade(path, TOY, protection, limits)
    assert report.score == 0
    return as_json(report)


def write(folder, source):
    path = folder / "submission.py"
    path.write_text(source)
    return path


@pytest.fixture
def places(tmp_path):
    """What a submission may look for, and listening sockets."""
    folder = Path("/tmp", f"tinyframe-outside-{os.getpid()}")  # a socket's path has to be short
    folder.mkdir()
    (folder / "precious").write_text("kept")
    mark = f"tinyframe-mark-{secrets.token_hex(8)}"  # a key of an earlier test may still be there
    with (
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as nameless,
        socket.socket(type=socket.SOCK_DGRAM) as echo,
    ):
        echo.bind(("127.0.0.1", 0))
        answering = threading.Thread(target=answer_one, args=(echo,))
        answering.start()
        named.bind(str(folder / "socket"))
        datagrams.bind(str(folder / "datagrams"))
        nameless.bind(f"\0{mark}")
        named.listen()
        nameless.listen()
        port = echo.getsockname()[1]
        yield {
            "outside": str(folder), "name": mark, "port": port, "root": str(ROOT), "mark": mark,
        }  # fmt: skip
        echo.sendto(b"enough", echo.getsockname())
        answering.join()
    shutil.rmtree(folder)
    (ROOT / mark).unlink(missing_ok=True)
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        if int(line.split()[0]) == 0x7F00F00D:
            subprocess.run(["ipcrm", "-m", line.split()[1]], check=True)
    forget_key(mark)


def answer_one(echo):
    echo.sendto(*echo.recvfrom(100))


def forget_key(mark):
    """Takes a key away that a submission without protections left to this user."""
    search, unlink, of_user = 10, 9, -4
    keyctl = functools.partial(ctypes.CDLL(None).syscall, seccomp.DENIED["keys"]["keyctl"][COLUMN])
    while (key := keyctl(search, of_user, b"user", mark.encode(), 0)) > 0:
        keyctl(unlink, key, of_user)


@pytest.mark.parametrize("setting", [*SETTINGS, *BUBBLEWRAP])
def test_holes_are_closed_where_the_report_says_so(setting, tmp_path, places):
    active = claims(protection(setting))
    found = said(write(tmp_path, holes.submission(places)), protection(setting))
    closed = {name for name, (claim, _) in HOLES.items() if claim in active}
    assert closed or setting == "nothing"
    assert closed == set(HOLES) or setting != "all"
    # A students' release has no solutions to read, and its tests are theirs.
    theirs = set() if answers() else {"reads the solutions", "reads the tests"}
    assert not holes.through(found) & closed - theirs
    if setting in ("all", "seccomp"):
        assert places["mark"] not in Path("/proc/keys").read_text()
        assert f"{0x7F00F00D}" not in Path("/proc/sysvipc/shm").read_text()
    if setting == "nothing":  # each can be done at all, so that to be kept out means something
        of_kernel = {"makes namespaces", "makes namespaces with clone"}  # may be kept to root
        of_root = {"reads what only the grader may", "changes the machine's settings"}
        less = of_kernel if os.geteuid() == 0 else of_kernel | of_root
        assert holes.through(found) >= set(HOLES) - less - theirs


@pytest.mark.parametrize("setting", [*SETTINGS, *BUBBLEWRAP])
def test_files_that_lost_their_names_count_as_disk(setting, tmp_path):
    source = """
import os, time
kept = []
for _ in range(40):
    file = open("f", "wb")
    os.unlink("f")
    file.write(bytes(1 << 20)); file.flush()
    kept.append(file)
time.sleep(60)
"""
    found = said(write(tmp_path, source), protection(setting), replace(LIMITS, load_seconds=10))
    assert "to disk and was stopped" in found or "No space left on device" in found


@pytest.mark.parametrize("setting", ["all", "namespaces", "nothing"])
def test_a_ticket_of_the_grader_is_not_found(setting, tmp_path):
    """In a session of its own, so that nothing stays in the tester's."""
    looks = (
        f"{CALL}\nprint('looking')\nraise RuntimeError(call(249, 218, b'user', b'ticket', 0, 0))"
    )
    path = write(tmp_path, looks)
    code = f"""
from pathlib import Path
from dataclasses import replace
from classroom.grader.judge import grade
from classroom.grader.sandbox import best_protection
from tests.grader.here import without
{CALL}
call(250, 219, 1, None)  # keyctl(KEYCTL_JOIN_SESSION_KEYRING)
call(248, 217, b"user", b"ticket", b"secret", ctypes.c_size_t(6), -3)
assert call(249, 218, b"user", b"ticket", 0, 0) > 0
protection = without(best_protection(), *{SETTINGS[setting]!r})
report = grade(Path({str(path)!r}), Path({str(TOY)!r}), protection)
print(report.notes[0])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "not permitted" in done.stdout or "Required key not available" in done.stdout


# ---- the filter ----------------------------------------------------------------------------------


def test_every_call_of_the_table_is_denied(tmp_path):
    numbers = {name: pair[COLUMN] for group in seccomp.DENIED.values()
               for name, pair in group.items() if pair[COLUMN] is not None}  # fmt: skip
    source = f"""{CALL}
allowed = []
for name, number in {numbers!r}.items():
    try:
        call(number, number, -1, -1, -1, -1, -1)
        allowed.append(name)
    except OSError as error:
        if error.errno != 1:
            allowed.append(f"{{name}} {{error}}")
try:
    call(435, 435, None, 0)
except OSError as error:
    allowed.append(error.strerror)
raise RuntimeError(allowed)
"""
    found = said(write(tmp_path, source), protection("all"))
    assert "RuntimeError: ['Function not implemented']" in found


def test_the_calls_of_other_abis_are_denied(tmp_path):
    """On x86-64; other processors do not have them."""
    if platform.machine() != "x86_64":
        return
    x32 = f"{CALL}\ncall({seccomp.X32 | 41}, 0, 1, 1, 0)"
    assert "Function not implemented" in said(write(tmp_path, x32), protection("all"))
    i386 = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20 (getpid); int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
raise RuntimeError(f"got {ctypes.CFUNCTYPE(ctypes.c_int)(address)()}")
"""
    assert "by signal 31" in said(write(tmp_path, i386), protection("all"))


def test_what_learners_use_goes_on_working(tmp_path):
    """Threads, processes, pipes, an event loop, a compiler and NumPy's own threads."""
    source = """
import asyncio, concurrent.futures, multiprocessing, os, subprocess, threading
import numpy as np
from tinyframe import Tensor

async def later(): return 1
assert asyncio.run(later()) == 1
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    assert list(pool.map(abs, [-1])) == [1]
near, far = multiprocessing.Pipe()
child = multiprocessing.get_context("fork").Process(target=far.send, args=(3,))
child.start(); child.join()
assert near.recv() == 3
source = "int main(void) { return 7; }"
subprocess.run(["cc", "-x", "c", "-", "-o", "seven"], input=source.encode(), check=True)
assert subprocess.run(["./seven"]).returncode == 7
assert float((np.ones((300, 300)) @ np.ones((300, 300)))[0, 0]) == 300
def double(x): return x + x
def lazily(x): return x + x
"""
    report = grade(write(tmp_path, source), TOY, best_protection(), Limits())
    assert report.score == 100, as_json(report)


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_jumps_of_the_filter_stay_in_it(machine):
    lines = seccomp.program(machine)
    for place, (code, taken, otherwise, _) in enumerate(lines):
        if code in (seccomp.EQUAL, seccomp.AT_LEAST):
            assert place + 1 + max(taken, otherwise) < len(lines)
    assert lines[-1] == (seccomp.RETURN, 0, 0, seccomp.ALLOW)
    assert lines[2] == (seccomp.RETURN, 0, 0, seccomp.KILL_PROCESS)


# ---- what it sees --------------------------------------------------------------------------------


def test_only_what_is_needed_can_be_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")  # a folder in /dev/shm would be seen there
    anew = functools.cache(sandbox.common_library.__wrapped__)
    monkeypatch.setattr(sandbox, "common_library", anew)
    source = """
import os
seen = {place: sorted(os.listdir(place)) if os.path.isdir(place) else None
        for place in ("/home", "/run", "/var", "/dev/shm", "/mnt", "/srv")}
raise RuntimeError(f"{os.listdir('/tmp')} {seen} {'shadow' in os.listdir('/etc')}")
"""
    found = said(write(tmp_path, source), protection("namespaces"))
    assert "tinyframe-grading-" in found
    there_is_none = dict.fromkeys(("/home", "/run", "/var", "/dev/shm", "/mnt", "/srv"))
    assert f"{there_is_none} False" in found


def test_a_repository_inside_of_what_is_readable_is_covered(tmp_path):
    """As one below a conda environment; Python's own folder in it can be seen again."""
    course, scratch = tmp_path / "course", tmp_path / "work"
    for folder in (course / "env" / "lib", course / "solutions", scratch):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to("course/env")
    readable = [str(tmp_path), str(course / "env")]
    rows = view.view(readable, [str(course)], str(scratch), 1 << 20, 100)
    kinds = {row.path: row.kind for row in rows if row.path.startswith(str(tmp_path))}
    assert kinds == {
        str(tmp_path): "read",
        str(course): "cover",
        str(course / "env"): "read",
        str(scratch): "scratch",
    }
    linked = view.view([str(tmp_path / "link" / "lib")], [], str(scratch), 1 << 20, 100)
    kinds = {row.path: row.kind for row in linked if row.path.startswith(str(tmp_path))}
    assert kinds == {
        str(tmp_path / "link"): "link",
        str(course / "env" / "lib"): "read",
        str(scratch): "scratch",
    }


def test_a_view_that_cannot_be_built_is_no_protection(monkeypatch):
    monkeypatch.setattr("classroom.grader.sandbox.NAMESPACES", ("false",))
    assert tried(Protection(wrapper="namespaces")) is None


def test_what_a_report_claims_is_what_was_tried(monkeypatch):
    """A protection that is there and does nothing is not claimed."""
    monkeypatch.setattr(Workplace, "probe", lambda self, told: ["read_answers", "send_by_udp"])
    found = tried(Protection(wrapper="namespaces", landlock=7, seccomp=True))
    assert claims(found) & set(dict(CLAIMS)) == {"solutions out of its sight"}
