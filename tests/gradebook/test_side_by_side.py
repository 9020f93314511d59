"""The same class alone, by two processes, by a Dask cluster: the same is found, whatever dies."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from classroom.gradebook import cluster
from classroom.gradebook.job import Job, version_of
from classroom.gradebook.records import Records
from classroom.grader import leftovers
from classroom.grader.handed_in import CannotGrade

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "01_tensor_basics"
SUBMISSIONS = {  # what five students have written, some of it right, nothing that takes long
    "ann": "def describe(x):\n    print('x' * 100)\n"
           "    return tuple(x.shape), str(x.dtype), x.numel() * x.dtype.itemsize\n",
    "bob": "def describe(x): return x.shape\n",
    "cy": "def describe(x): raise ValueError(len(x.shape))\n",
    "Dée": "def describe(x): import os; os._exit(3)\n",
    "ศิริ": "raise RuntimeError('not today')\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for name, text in SUBMISSIONS.items():
        (folder / name).mkdir()
        (folder / name / f"{PROJECT}.py").write_text(text)
    return folder


def start(submissions, grades, *options):
    command = [sys.executable, "-m", "classroom", "grade-class", str(submissions), "--project",
               PROJECT, "--grades", str(grades), "--slow", "9", *options]  # fmt: skip
    temporary = grades.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)  # fmt: skip


def nothing_is_left(grades):
    return not list((grades.parent / "temporary").iterdir())


def ended(process):
    _, told = process.communicate(timeout=400)
    assert process.returncode in (0, 1), told
    return told


def what_was_found(grades):
    """All that is kept, but when it was and how long it took."""
    found = []
    for record in Records(grades, PROJECT).all():
        data = json.loads(Records(grades, PROJECT).path(record.student).read_text())
        data["gradings"] = [{**g, "at": "", "seconds": 0} for g in data["gradings"]]
        found.append(data)
    return found


@pytest.fixture(scope="module")
def alone(submissions, tmp_path_factory):
    grades = tmp_path_factory.mktemp("alone") / "grades"
    ended(start(submissions, grades, "--jobs", "1"))
    return what_was_found(grades)


def test_everybody_is_there(alone):
    assert [record["student"] for record in alone] == sorted(SUBMISSIONS)
    points = {r["student"]: sum(row["points"] for row in r["report"]["rows"])
              for r in alone if r["report"]}  # fmt: skip
    assert points["ann"] > points["bob"] >= points["cy"]
    assert {r["student"]: r["status"] for r in alone}["ศิริ"] == "crashed"


def test_a_grader_that_is_killed_goes_on_where_it_was_also_when_a_process_of_it_dies(
    submissions, tmp_path, alone
):
    grades = tmp_path / "grades"
    first = start(submissions, grades, "--jobs", "2")
    folder = Records(grades, PROJECT).folder
    wait_for(lambda: len(list(folder.glob("*.json"))) >= 2)
    below = descendants(first.pid)
    first.kill()
    first.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), seconds=10)
    kept = {path: path.read_bytes() for path in folder.glob("*.json")}
    second = start(submissions, grades, "--jobs", "2")
    victim = wait_for(lambda: children(second.pid, "spawn_main"))
    os.kill(int(victim[0]), signal.SIGKILL)
    ended(second)
    assert what_was_found(grades) == alone
    assert {path: path.read_bytes() for path in kept} == kept  # they were not graded again
    assert not list(folder.glob(".*"))
    assert nothing_is_left(grades)


# ---- a cluster -----------------------------------------------------------------------------------


@contextmanager
def dask(*words):
    """A program of Dask, ended with all that it started: asked to, then killed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
    process = subprocess.Popen([sys.executable, "-m", "dask", *words], env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)  # fmt: skip
    try:
        yield process
    finally:
        with_all = [process.pid, *map(int, descendants(process.pid))]
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        for pid in with_all:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler(port):
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with dask("scheduler", *words) as process:
        yield process


@contextmanager
def workers(port, count=2, threads=1):
    words = ["--nworkers", str(count), "--nthreads", str(threads), "--no-dashboard"]
    with dask("worker", f"tcp://127.0.0.1:{port}", *words) as process:
        yield process


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_cluster_finds_the_same_though_a_worker_and_the_scheduler_are_killed(
    submissions, tmp_path, alone, monkeypatch
):
    temporary, grades, port = tmp_path / "theirs", tmp_path / "grades", free_port()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    kept = Records(grades, PROJECT).folder
    with scheduler(port) as first, workers(port) as nannies:
        wait_for(lambda: children(nannies.pid, "spawn_main"))
        grader = start(submissions, grades, "--scheduler", f"tcp://127.0.0.1:{port}")
        wait_for(lambda: list(kept.glob("*.json")) or grader.poll() is not None)
        os.kill(int(children(nannies.pid, "spawn_main")[0]), signal.SIGKILL)
        wait_for(lambda: len(list(kept.glob("*.json"))) >= 3 or grader.poll() is not None)
        first.kill()
    with scheduler(port), workers(port, 1):
        ended(grader)
    assert what_was_found(grades) == alone
    assert nothing_is_left(grades)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(leftovers, "YOUNG", 0)
    leftovers.sweep()  # as the next grader on that machine does
    assert not list(temporary.glob("tinyframe-*"))


def test_workers_that_are_not_like_this_grader_are_refused():
    port = free_port()
    here = version_of(PROJECT)
    other = Job("ann", PROJECT, {"submission.py": b""}, "a.py", version="another")
    address = f"tcp://127.0.0.1:{port}"
    with pytest.raises(CannotGrade, match="no Dask scheduler"):
        list(cluster.done_by(address, [other]))
    with scheduler(port):
        with workers(port, 1):
            with pytest.raises(CannotGrade, match=r"tcp://.* another version, in /"):
                list(cluster.done_by(address, [other]))
        with workers(port, 1, threads=2), pytest.raises(CannotGrade, match="has 2 threads"):
            list(cluster.done_by(address, [Job("ann", PROJECT, {}, "a.py", here)]))


# ---- processes -----------------------------------------------------------------------------------


def wait_for(there, seconds=200):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := there():
            return found
        time.sleep(0.05)
    raise AssertionError("it never came")


def descendants(pid):
    table = subprocess.run(["ps", "-Ao", "pid=,ppid="], capture_output=True, text=True).stdout
    parents = [line.split() for line in table.splitlines()]
    found, ring = [], {str(pid)}
    while ring:
        ring = {child for child, parent in parents if parent in ring}
        found += ring
    return found


def children(pid, word):
    """Processes below this one that have the word in their command, oldest first."""
    found = []
    for each in descendants(pid):
        try:
            words = Path(f"/proc/{each}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if word in words:
            found.append(each)
    return sorted(found, key=int)
