"""What a submission may take is bounded from outside: time by the clock, and memory of nobody."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from classroom.grader import turns, warden
from classroom.grader.judge import grade
from classroom.grader.sandbox import Limits, best_protection
from tests.grader.here import SLOW, WRONG, without
from tests.grader.hostile import FIND_PIPE

TOY = Path(__file__).with_name("toy.py")
SHORT = Limits(load_seconds=4, answer_seconds=2, total_seconds=4, clock=2, memory=256 << 20)

# Its answers are late, and its own clock stands still.
IDLE = {
    "waits in state D": """
import os
def double(x):
    os.mkfifo("fifo")
    os.posix_spawn("/bin/true", ["true"], {}, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "fifo", os.O_RDONLY, 0)])
lazily = double
""",
    "answers a byte at a time": FIND_PIPE
    + """
import time
def double(x):
    for n in pipes: os.set_blocking(n, True)
    os.write(pipes[-1], struct.pack(">I", 1 << 19))
    while True:
        os.write(pipes[-1], b" ")
        time.sleep(0.04)
lazily = double
""",
}


def write(folder, text):
    path = folder / "submission.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", IDLE)
def test_the_clock_stops_what_takes_no_time_of_its_own(name, tmp_path):
    protection = best_protection()
    began = monotonic()
    report = grade(write(tmp_path, IDLE[name]), TOY, protection, SHORT)
    took = monotonic() - began
    assert report.score == 0
    assert report.status == "out of time"
    assert any("the time limit for the whole project was reached" in n for n in report.notes)
    # the limit by the clock, with processes that are started three times on a busy machine
    assert took < SHORT.total_seconds * SHORT.clock + 30


def test_one_who_is_late_again_and_again_does_not_keep_the_others_waiting(tmp_path, monkeypatch):
    alone = []
    real = turns.alone

    def counted():
        alone.append(1)
        return real()

    monkeypatch.setattr(turns, "alone", counted)
    text = "import time\ndef double(x): time.sleep(99)\nlazily = double"
    limits = replace(SHORT, answer_seconds=0.5, total_seconds=0.6, load_seconds=30, clock=100)
    report = grade(write(tmp_path, text), TOY, best_protection(), limits)
    assert report.status == "out of time" and report.score == 0
    assert len(alone) <= 1


def test_a_task_that_ends_the_program_again_and_again_costs_the_others_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("classroom.grader.judge.MOST_ENDS", 1)
    head, _, other = TOY.read_text().partition("@project.check(")
    first, _, rest = other.partition("@project.check(")
    checks = [first.replace("60", "30"), first.replace("60", "30"), rest]
    tasks = tmp_path / "tasks" / "toy.py"
    tasks.parent.mkdir()
    tasks.write_text("@project.check(".join([head, *checks]))
    text = "import os\ndef double(x): os._exit(0)\ndef lazily(x): return x * 2\n"
    report = grade(write(tmp_path, text), tasks, best_protection(), SLOW)
    ended, unasked, right = report.rows
    assert (ended.broke_off, unasked.broke_off, unasked.was_asked) == (True, False, False)
    assert unasked.found.startswith("not asked") and unasked.hint == ""
    assert right.passed and report.score == 40
    assert report.notes == [
        "The program broke off again and again, so not all checks were asked of double."
    ]


# ---- memory --------------------------------------------------------------------------------------

SHARED = """
import mmap, os
whole = mmap.mmap(-1, 1 << 30)
if os.fork() == 0:
    for n in range(0, 1 << 30, 4096): whole[n] = 1
    os._exit(0)
os.wait()
"""
ZEROS = SHARED.replace("mmap.mmap(-1,", "mmap.mmap(os.open('/dev/zero', os.O_RDWR),")
SOCKETS = """
import os, socket, time
for _ in range(12):
    if os.fork() == 0:
        pairs = [socket.socketpair() for _ in range(110)]
        for pair in pairs:
            for end in pair:
                end.setblocking(False)
                try:
                    while True: end.send(bytes(1 << 16))
                except BlockingIOError: pass
        time.sleep(99)
time.sleep(99)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SHARED, "PermissionError"),
        (ZEROS, "Error"),
        (SOCKETS, "of memory and was stopped"),
        (
            "import socket\n"
            "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)",
            "PermissionError",
        ),
    ],
)
def test_memory_that_nobody_holds_is_denied_or_counted(text, said, tmp_path):
    protection = best_protection()
    assert protection.seccomp, "these tests are for a system that has the filter"
    limits = replace(SHORT, load_seconds=10, total_seconds=20)
    report = grade(write(tmp_path, f"{text}\n{WRONG}"), TOY, protection, limits)
    assert report.score == 0
    assert said in " ".join(report.notes)


# name: the call's numbers on x86-64 and aarch64, and its arguments. Each would take what nobody
# counts, or from others, and may fail without a filter too, but not with EPERM.
REFUSED = {
    "vmsplice": (278, 75, (-1, None, 0, 0)),
    "mmap of huge pages": (9, 222, (None, 1 << 21, 3, 0x40022, -1, 0)),
    "madvise that swaps": (28, 233, (None, 4096, 21)),
    "io_setup": (206, 0, (0, None)),
    "sendmsg": (46, 211, (-1, None, 0)),
    "sendmmsg": (307, 269, (-1, None, 0, 0)),
    "fallocate beyond the end": (285, 47, (-1, 1, 0, 1 << 20)),
    "prlimit of another": (302, 261, (99999, 7, None, None)),
    "setpriority": (141, 140, (2, 0, 19)),
    "ioprio_set": (251, 30, (99, 0, 0)),
}


def test_calls_that_take_what_nobody_counts_are_refused(tmp_path):
    text = f"""
import ctypes, os, platform, resource
calls, refused = ctypes.CDLL(None, use_errno=True), []
for name, (x86, arm, arguments) in {REFUSED!r}.items():
    number = x86 if platform.machine() == "x86_64" else arm
    whole = [ctypes.c_long(a) if type(a) is int else a for a in arguments]
    if calls.syscall(number, *whole) < 0 and ctypes.get_errno() == 1:
        refused.append(name)
os.posix_fallocate(os.open("file", os.O_CREAT | os.O_RDWR), 0, 4096)  # this is as before
raise RuntimeError("; ".join(refused) + f", core files of {{resource.getrlimit(4)[0]}} byte")
"""
    report = grade(write(tmp_path, text), TOY, best_protection(), SHORT)
    told = " ".join(report.notes)
    assert "; ".join(REFUSED)[:250] in told
    plain = grade(write(tmp_path, text), TOY, without(best_protection(), "seccomp"), SHORT)
    assert "vmsplice" not in " ".join(plain.notes)


def test_what_lies_too_deep_to_be_counted_is_too_much(tmp_path, monkeypatch):
    assert warden.disk_use(str(tmp_path), 100) == (0, 0)
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    assert warden.disk_use(str(tmp_path), 100)[1] == 101
    os.chdir(tmp_path)
    subprocess.run(["rm", "-r", "d" * 250], check=True)


def test_what_is_claimed_of_memory_is_tried(monkeypatch):
    whole = best_protection()
    assert "take_nameless_memory" in whole.held
    assert "take_nameless_memory" not in without(whole, "seccomp").held


def test_a_control_group_has_the_limit_and_the_process_and_goes(tmp_path, monkeypatch):
    with open("/proc/self/cgroup") as table:
        own = next(x for x in map(str.rstrip, table) if x.split(":")[1] in ("memory", ""))
    _, kind, path = own.split(":", 2)
    (tmp_path / path.strip("/")).mkdir(parents=True, exist_ok=True)
    names = {kind: (str(tmp_path), "limit", "events")}
    monkeypatch.setattr(warden.MemoryGroup, "VERSIONS", names)
    group = warden.MemoryGroup(1 << 20)
    folder = Path(group.folder)
    assert (folder / "limit").read_text() == str(1 << 20)
    group.enter(group.folder)
    assert (folder / "cgroup.procs").read_text() == str(os.getpid())
    (folder / "events").write_text("low 0\noom 1\noom_kill 0\n")
    assert not group.has_killed()
    (folder / "events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.has_killed()


def test_where_there_are_control_groups_one_holds_memory_that_nobody_else_counts():
    group = warden.MemoryGroup(64 << 20)
    if not group.folder:  # then nothing says that there is one
        assert not group.has_killed()
        return
    text = "import mmap\nm = mmap.mmap(-1, 1 << 28)\nfor n in range(0, 1 << 28, 4096): m[n] = 1"
    try:
        group.enter(group.folder)
        child = subprocess.Popen([sys.executable, "-c", text])
        group.enter(group.parent)
        assert child.wait(60) == -9
        assert group.has_killed()
    finally:
        group.remove()
    assert not os.path.exists(group.folder)


def test_no_two_graders_at_once_have_the_same_number():
    code = "from classroom.grader import turns; print(turns.number(50), flush=True); input()"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    try:
        numbers = [int(process.stdout.readline()) for process in running]
    finally:
        for process in running:
            process.communicate("\n")
    assert len(set(numbers)) == 3
    assert all(0 <= number < 50 for number in numbers)
