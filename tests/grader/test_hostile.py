"""Hostile submissions gain nothing, harm nothing, and their reports say what happened."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.grader.judge import grade
from classroom.grader.report import as_json, rendered
from classroom.grader.sandbox import ROOT, Limits, best_protection
from tests.grader.here import TOY, WRONG, without
from tests.grader.hostile import SAID, hostile

LIMITS = Limits(load_seconds=10, answer_seconds=5, total_seconds=20, memory=256 << 20,
                address_space=4 << 30, processes=24, output=100 << 10, disk=8 << 20,
                files=300)  # fmt: skip
# These wait for a deadline, while they load or when they are asked: a short one.
HANG = {"hangs in an answer": {"load_seconds": 2}, "hangs up": {"load_seconds": 2},
        "loops": {"answer_seconds": 0.2}, "sleeps": {"answer_seconds": 0.2}}  # fmt: skip
# Without it, a submission could do this, and the report says that it was not there.
NEEDS = {
    "calls home": "network closed",
    "imports the solution": "solutions out of its sight",
    "writes through a link": "writing outside its folder prevented",
    "deletes files": "writing outside its folder prevented",
    "poisons caches": "writing outside its folder prevented",
}


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious").write_text("kept")
    return folder


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    """Where gradings have their folders, so that no other test's is taken for this one's. Any user
    may enter, as into no tmp_path (which has to be there before): a submission may be another."""
    folder = tempfile.mkdtemp(prefix="tinyframe-tests-")
    os.chmod(folder, 0o711)
    monkeypatch.setattr(tempfile, "tempdir", folder)
    yield folder
    shutil.rmtree(folder)


def write(folder, text):
    path = folder / "submission.py"
    path.write_text(text)
    return path


def processes_in(room):
    """Command lines of processes that work in this folder, or were started with its name."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text()
            if room in words or room in os.readlink(process / "cwd"):
                found.append(words)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", SAID)
def test_it_gains_nothing_and_harms_nothing(name, tmp_path, outside, room, monkeypatch):
    monkeypatch.setenv("GRADER_TOKEN", "secret-of-the-grader")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        path = write(tmp_path, hostile(name, outside=outside, root=ROOT, port=port))
        limits = replace(LIMITS, **HANG.get(name, {}))
        protection = best_protection()
        report = grade(path, TOY, protection, limits)
        server.settimeout(0)
        called = True
        try:
            server.accept()
        except BlockingIOError:
            called = False
    whole = rendered(report, "table", "instructor") + as_json(report)
    assert report.score == 0
    assert "secret-of-the-grader" not in whole
    assert processes_in(room) == [] and os.listdir(room) == []
    missing = NEEDS.get(name)
    if missing and any(row.startswith(missing) for row in report.without()):
        assert missing in whole.split("The sandbox is without")[1]
        return
    assert SAID[name] in " ".join(whole.split())
    assert not called
    assert (outside / "precious").read_text() == "kept"
    assert sorted(p.name for p in outside.iterdir()) == ["precious"]


# ---- what is no file to grade --------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, said",
    [
        (b"   \n\n", "the file is empty"),
        (b"# \xe9\nx = 1\n", "not text in UTF-8"),
        (b"\0\1\2", "null bytes"),
    ],
)
def test_what_is_no_python_gets_no_points(data, said, tmp_path):
    path = tmp_path / "submission.py"
    path.write_bytes(data)
    report = grade(path, TOY, best_protection(), LIMITS)
    assert report.score == 0
    assert said in report.notes[0]


# ---- with less protection ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["exits", "leaves a daemon", "loops", "forks without end"])
def test_limits_hold_where_there_is_nothing_else(name, tmp_path, room):
    path = write(tmp_path, hostile(name))
    limits = replace(LIMITS, **HANG.get(name, {}))
    report = grade(path, TOY, without(best_protection(), "wrapper", "user", "landlock"), limits)
    assert report.score == 0
    assert processes_in(room) == []
    assert len(report.without()) >= 3


def test_the_grader_dies_and_so_does_what_it_started(tmp_path, room):
    path = write(tmp_path, "import time\nprint('here')\ntime.sleep(1000)\n" + WRONG)
    code = f"""
import os, threading, time
from pathlib import Path
from classroom.grader.judge import grade
from classroom.grader.sandbox import best_protection
def end():
    while not os.listdir({room!r}):  # on a busy machine it takes a while to begin
        time.sleep(0.05)
    time.sleep(1)
    os._exit(7)
threading.Thread(target=end, daemon=True).start()
grade(Path({str(path)!r}), Path({str(TOY)!r}), best_protection())
"""
    env = {**os.environ, "TMPDIR": room}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, timeout=60)
    assert os.listdir(room)  # it had begun, and could not tidy up
    assert done.returncode == 7
    until = time.monotonic() + 20
    while processes_in(room) and time.monotonic() < until:
        pass  # the kernel takes a moment to end them
    assert processes_in(room) == []
