"""A busy machine costs no points, and whatever breaks, there is a report and nothing is left."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from classroom.grader import sandbox, turns
from classroom.grader.channel import Channel, Late
from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import grade
from classroom.grader.report import as_json, rendered
from classroom.grader.sandbox import Limits, Peer, Stopwatch, Workplace, best_protection
from tests.grader.here import RIGHT, TOY, without


@pytest.fixture
def right(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text(RIGHT)
    return path


# ---- time ----------------------------------------------------------------------------------------


def late_at(monkeypatch, times):
    """The questions with these numbers are not answered in time; a list that all are added to."""
    asked = []
    whole = Peer.ask

    def ask(self, kind, body, arrays, seconds, by_clock):
        asked.append(kind)
        if len(asked) - 1 in times:
            raise Late
        return whole(self, kind, body, arrays, seconds, by_clock)

    monkeypatch.setattr(Peer, "ask", ask)
    return asked


@pytest.mark.parametrize("number", range(5))
def test_what_was_late_is_asked_again_before_it_counts(number, right, monkeypatch):
    asked = late_at(monkeypatch, [number])
    report = grade(right, TOY, best_protection())
    assert report.score == 100
    assert len(asked) > 5


def test_what_is_late_again_counts(right, monkeypatch):
    late_at(monkeypatch, [2, 5])
    report = grade(right, TOY, best_protection())
    assert [row.points for row in report.rows] == [0, 40]
    assert "no answer within" in report.rows[0].found


def test_who_has_to_be_alone_waits_for_the_others_and_they_for_him(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "PLACE", str(tmp_path / "{user}.{name}"))
    order = []
    inside = threading.Event()

    def alone():
        with turns.alone():
            order.append("alone")
        inside.set()

    with turns.together(), turns.together():
        waiting = threading.Thread(target=alone)
        waiting.start()
        assert not inside.wait(0.2)
        order.append("together")
    waiting.join()
    assert order == ["together", "alone"]
    with turns.alone():
        late = threading.Thread(target=lambda: order.append(turns.together().__enter__()))
        late.start()
        late.join(0.2)
        assert len(order) == 2
    late.join()
    assert len(order) == 3


def test_without_a_file_to_lock_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "PLACE", str(tmp_path / "nowhere" / "{user}.{name}"))
    came_in = []

    def come_in(turn):
        with turn():
            came_in.append(turn)

    with turns.alone():
        for turn in (turns.alone, turns.together):
            other = threading.Thread(target=come_in, args=(turn,), daemon=True)
            other.start()
            other.join(turns.PATIENCE / 10)
            assert came_in[-1:] == [turn]


def test_seconds_are_of_a_processor_or_of_sleep_but_not_of_waiting(monkeypatch):
    now, computed, busy = 100.0, 3.0, True
    monkeypatch.setattr(sandbox, "monotonic", lambda: now)
    monkeypatch.setattr(sandbox, "times", lambda pid: (computed, busy))
    watch = Stopwatch(1)
    now += 50.0  # it wanted to, and others did
    assert watch.look() == 0.0
    computed += 2.0
    assert watch.look() == 2.0
    busy = False
    for _ in range(100):
        now += sandbox.LOOK_EVERY
        watch.look()
    assert watch.seconds == pytest.approx(2.0 + 100 * sandbox.LOOK_EVERY)
    now += 50.0  # the grader itself was not there to look
    assert watch.look() < 2.0 + 102 * sandbox.LOOK_EVERY + 1e-6


def test_what_processes_take_is_seen_in_those_below():
    code = "import os\nwhile True: os.getpid()"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {code!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], start_new_session=True) as process:
        try:
            seconds, busy = found = sandbox.times(process.pid)
            deadline = time.monotonic() + 60
            while not (seconds > 0.2 and busy) and time.monotonic() < deadline:
                if sys.platform != "linux":  # no /proc: as if they slept
                    break
                seconds, busy = found = sandbox.times(process.pid)
        finally:
            os.killpg(process.pid, 9)
    if sys.platform == "linux":
        assert busy and seconds > 0.2
    else:
        assert found == (0.0, False)


# ---- what breaks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, MemoryError, OSError])
def test_whatever_an_answer_breaks_is_its_own_fault(error, right, monkeypatch):
    """A report, with the reason in it, where reading an answer raises something unforeseen."""
    receive = Channel.receive

    def breaks(self, until):
        if (message := receive(self, until)).kind == "hello":
            return message
        raise error("unforeseen")

    monkeypatch.setattr(Channel, "receive", breaks)
    report = grade(right, TOY, best_protection())
    assert report.score == 0
    assert f"what came back is not an answer: {error.__name__}" in report.notes[0]


def test_a_process_that_cannot_be_started_is_no_fault_of_the_submission(right, monkeypatch):
    def fails(*arguments, **named):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = set(os.listdir("/dev/fd"))
    protection = best_protection()
    monkeypatch.setattr(sandbox.subprocess, "Popen", fails)
    with pytest.raises(CannotGrade, match="could not be started .Resource temporarily unavail"):
        grade(right, TOY, protection)
    assert len(os.listdir("/dev/fd")) <= len(before)


@pytest.mark.parametrize("who", ["answerer", "referee"])
def test_a_process_that_ends_before_it_answers_is_no_fault_of_the_submission(
    who, right, monkeypatch
):
    """As where somebody removes the temporary folder, or the machine is out of memory."""
    command = Workplace._command

    def breaks(self, main, *rest):
        words = command(self, main, *rest)
        return ["false"] if main.endswith(who) else words

    monkeypatch.setattr(Workplace, "_command", breaks)
    with pytest.raises(CannotGrade, match="could not be started .exit 1"):
        grade(right, TOY, best_protection())


def test_a_process_that_never_answers_is_no_fault_of_the_submission(right, monkeypatch):
    asked = late_at(monkeypatch, range(1000))
    with pytest.raises(CannotGrade, match="could not be started .no answer within 10 seconds"):
        grade(right, TOY, best_protection())
    assert asked == ["hello", "hello"]  # the second time alone


def test_a_second_process_that_cannot_be_started_is_the_submissions_fault(right, monkeypatch):
    """It may have spoiled its folder, and must not get out of its points by that."""
    command, count = Workplace._command, []

    def breaks(self, main, *rest):
        words = command(self, main, *rest)
        count.extend([main] * main.endswith("answerer"))
        return ["false"] if len(count) > 1 and main.endswith("answerer") else words

    monkeypatch.setattr(Workplace, "_command", breaks)
    right.write_text("def double(x):\n    import os\n    os._exit(3)\n")
    report = grade(right, TOY, best_protection())
    assert report.score == 0 and len(count) > 1
    assert any("could not be started again (exit 1)" in note for note in report.notes)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_nothing_stays_behind_when_the_grader_itself_breaks_off(error, right, monkeypatch):
    protection = best_protection()
    room = Path(tempfile.mkdtemp())  # where others may come, unlike tmp_path
    room.chmod(0o711)
    monkeypatch.setattr(sandbox.tempfile, "tempdir", str(room))
    peers = []
    whole = Peer.__init__

    def start(self, place, main):
        whole(self, place, main)
        peers.append(self)

    def progress(text):
        if text.startswith("checking 2"):
            raise error

    monkeypatch.setattr(Peer, "__init__", start)
    with pytest.raises(error):
        grade(right, TOY, protection, progress=progress)
    assert peers and all(peer.warden.returncode is not None for peer in peers)
    room.rmdir()


def test_a_folder_that_cannot_be_filled_does_not_stay(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sandbox.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sandbox, "copy_readable", full)
    with pytest.raises(OSError, match="No space left"):
        with sandbox.Workplace(Limits(), sandbox.Protection(), {}):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def counting(tmp_path):
    """A project of two tasks, each with a visible check and a hidden one; it asks 1, 2, 3 and 4."""
    tasks = tmp_path / "counting.py"
    text = "from classroom.grader.tasks import Project\nproject = Project('Counting')\n"
    for hidden in (False, True):
        text += "### BEGIN HIDDEN\n" * hidden
        for number, task in enumerate(("one", "two"), 1 + 2 * hidden):
            text += f"@project.check('{task}', 25, 'calls', hint='-')\n"
            text += f"def _(ask): ask('{task}', {number})\n"
        text += "### END HIDDEN\n" * hidden
    tasks.write_text(text)
    return tasks


def test_hidden_checks_are_asked_last_and_by_a_process_of_their_own(tmp_path, counting):
    """So no row that a student sees in full can tell what a hidden check has asked."""
    submission = tmp_path / "submission.py"
    submission.write_text("""
import os
calls = []
def one(x):
    calls.append(x)
    print("a secret" if os.path.exists("been_here") else "nothing")
    open("been_here", "w").close()
    raise ValueError(f"call {len(calls)}")
two = one
""")
    report = grade(submission, counting, best_protection())
    assert [(row.task, row.hidden) for row in report.rows] == [
        ("one", False), ("one", True), ("two", False), ("two", True),
    ]  # fmt: skip
    calls = [row.found.partition("call ")[2][:1] for row in report.rows]
    assert calls == ["1", "1", "2", "2"]
    assert report.for_student().printed == ""


def test_what_hidden_checks_ask_is_not_told_by_loading_the_file_again(tmp_path, counting):
    submission = tmp_path / "submission.py"
    submission.write_text("""
import os, pathlib
kept = pathlib.Path("kept")
if kept.exists() and kept.read_text() == "3": raise RuntimeError("it was 3")
def one(x):
    kept.write_text(str(x))
    if x > 2: os._exit(0)
two = one
""")
    weak = without(best_protection(), "wrapper", "user")  # its folder stays
    report = grade(submission, counting, weak).for_student()
    assert [(row.task, row.points) for row in report.rows if row.points] == []
    assert "could not be loaded: not a second time" in " ".join(report.notes)
    assert "it was 3" not in rendered(report, "table", "student") + as_json(report)
