"""What a learner sees and what is kept: limits on time, sentences, signs, progress."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import classroom
from classroom.exercise import Exercise, Open, Outcome, Wrong, judge
from classroom.exercises import find
from classroom.learner import progress, record, show
from classroom.limit import OutOfTime, time_limit
from tinyframe import Context
from tinyframe.settings import settings
from tinyframe.uop import Ops, UOp

ROOT = Path(__file__).resolve().parents[2]


def exercise(check=lambda answer: "Yes.", **more) -> Exercise:
    return Exercise("4.2", "a-name", "A title", check, ("One.", "Two."), **more)


# ---- what an answer is worth --------------------------------------------------------------------


def test_right_wrong_and_open():
    def check(answer):
        if answer == 0:
            raise Open("Not yet.")
        if answer == 1:
            raise Wrong("Too few.", "a case", expected=2, got=1)
        return "It shows something."

    right = judge(exercise(check), 2)
    assert (right.state, right.text) == ("right", "It shows something.")
    assert (judge(exercise(check), 0).state, judge(exercise(check), 0).text) == ("open", "Not yet.")
    wrong = judge(exercise(check), 1)
    assert (wrong.state, wrong.text) == ("wrong", "Too few.")
    assert wrong.rows == (("case", "a case"), ("expected", "2"), ("got", "1"))


def test_an_answer_without_end_is_stopped_and_shown_its_line():
    def endless():
        while True:
            pass

    outcome = judge(exercise(lambda answer: answer(), seconds=0.1), endless)
    assert outcome.state == "wrong" and "stopped after 0.1 seconds" in outcome.text
    assert re.fullmatch(r"\d+: `(while True:|pass)`", dict(outcome.rows)["your line"])


def test_an_answer_that_catches_everything_once_is_still_stopped():
    def stubborn():
        try:
            threading.Event().wait()
        except BaseException:
            threading.Event().wait()

    outcome = judge(exercise(lambda answer: answer(), seconds=0.05), stubborn)
    assert "stopped after" in outcome.text


@pytest.mark.parametrize(
    "answer, said",
    [
        (lambda: 1 / 0, "Your answer raised ZeroDivisionError: division by zero"),
        (lambda: [][1], "Your answer raised IndexError"),
        (lambda: sys.exit("bye"), "Your answer raised SystemExit: bye"),
        (lambda: (_ for _ in ()).throw(RuntimeError()), "Your answer raised RuntimeError."),
        (lambda: (_ for _ in ()).throw(ValueError("x" * 999)), "…"),
    ],
)
def test_an_answer_that_raises_gets_a_sentence(answer, said):
    outcome = judge(exercise(lambda function: function()), answer)
    assert outcome.state == "wrong" and said in outcome.text and len(outcome.text) < 400
    assert "your line" in dict(outcome.rows)


def test_endless_recursion_gets_a_sentence():
    def deeper(n=0):
        return deeper(n + 1)

    assert "RecursionError" in judge(exercise(lambda function: function()), deeper).text


def test_ctrl_c_stops_a_check_as_it_stops_everything():
    def interrupted(answer):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="your line .*raise KeyboardInterrupt"):
        judge(exercise(interrupted), 1)


def test_a_limit_leaves_signals_as_they_were():
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(60):
        assert signal.getsignal(signal.SIGALRM) is not before
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(OutOfTime), time_limit(0.01):
        threading.Event().wait()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_somebody_elses_alarm_still_rings():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 100)
        with time_limit(60):
            pass
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100 and not rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_check_is_quiet_whatever_the_learner_has_set(capsys):
    with Context(DEBUG=4):
        outcome = judge(find("4.9"), lambda a: a.flip((0, 1)).T)
        assert settings.DEBUG == 4
    assert outcome.state == "right" and capsys.readouterr().out == ""


def test_outside_the_main_thread_an_answer_is_judged_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(judge(exercise(), 1).state))
    thread.start()
    thread.join()
    assert found == ["right"]


# ---- what is shown ------------------------------------------------------------------------------


@pytest.fixture
def shown(monkeypatch) -> list[tuple[str, str]]:
    pages: list[tuple[str, str]] = []
    monkeypatch.setattr(show, "both", lambda text, html: pages.append((text, html)))
    return pages


def test_a_wrong_answer_shows_the_case_in_both_forms(shown):
    rows = (("case", "`a < b`"), ("got", "1"))
    show.outcome(Outcome(exercise(), "wrong", "Too few."  , rows))  # fmt: skip
    ((text, html),) = shown
    assert text == "✗ 4.2 wrong. Too few.\n    case  `a < b`\n    got   1"
    assert "✗ 4.2 wrong." in html and "<code>a &lt; b</code>" in html


def test_a_wrong_graph_is_drawn_beside_what_was_asked_for(shown):
    classroom.check("4.5", lambda a, b: a * b * b + a)
    (said, _), (text, markup) = shown
    assert "✗ 4.5 wrong." in said
    assert text.splitlines()[0] == "two graphs: yours has one MUL more"
    assert {"yours", "what was asked for"} <= set(text.splitlines())
    assert "[only here] MUL" in text and "a = " in text
    assert "<img alt=" in markup


@pytest.mark.parametrize("arg", ["nonsense", (3,), None])
def test_a_graph_that_cannot_be_drawn_still_gets_its_sentence(shown, arg):
    classroom.check("4.5", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (a * b,), arg))
    assert "✗ 4.5 wrong." in shown[0][0]


def test_without_a_notebook_the_two_graphs_are_printed(capsys):
    classroom.check("1.5", lambda v: (v * 2 + v, lambda v: v * 4))
    assert "two graphs: in " in capsys.readouterr().out


def test_a_prediction_says_where_to_look_and_no_more(shown):
    for state in ("right", "wrong"):
        show.outcome(Outcome(exercise(shown_by="the next cell"), state))
    assert [text for text, _ in shown] == [
        "✓ 4.2 right. The next cell shows it.",
        "✗ 4.2 wrong. The next cell shows what happens.",
    ]


def test_an_open_exercise_says_what_it_is(shown):
    show.outcome(Outcome(exercise(), "open"))
    assert shown[0][0] == "○ 4.2 open. A title."


def test_hints_have_levels_and_say_how_to_get_the_next(shown):
    classroom.hint("4.2")
    classroom.hint("4.2", 2)
    classroom.hint("4.2", 99)
    first, second, last = (text for text, _ in shown)
    assert find("4.2").hints[0] in first and '`hint("4.2", 2)` says more' in first
    assert find("4.2").hints[1] in second and "says more" not in second
    assert last == second


@pytest.mark.parametrize("number", ["4.99", "9.1", "four", "", 4])
def test_an_exercise_that_is_not_there_is_a_sentence(shown, number):
    classroom.check(number, 1)
    classroom.hint(number)
    assert all("There is no exercise" in text for text, _ in shown) and len(shown) == 2


def test_outside_a_notebook_text_is_printed(capsys):
    classroom.check("4.2", ...)
    assert capsys.readouterr().out.startswith("○ 4.2 open.")


def test_importing_classroom_imports_nothing_else():
    code = "import sys, classroom; print(*[m for m in sys.modules if m in ('numpy', 'tinyframe')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


# ---- what is kept -------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "my_course" / "course"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return tmp_path / "my_course"


def kept(copy: Path) -> dict:
    return json.loads((copy / record.FILE).read_text())["exercises"]


def test_the_first_guess_counts_and_done_stays_done(copy, shown):
    name = find("4.3").name
    for guess, expected in (
        ("sixty", None),  # no guess at all
        (61, {"first": False, "done": False}),
        (60, {"first": False, "done": True}),
        (62, {"first": False, "done": True}),
    ):
        classroom.predict("4.3", guess)
        assert (kept(copy)[name] if expected else (copy / record.FILE).exists()) == (
            expected or False
        )
    classroom.predict("4.1", 0)
    assert kept(copy)[find("4.1").name] == {"first": True, "done": True}
    classroom.progress(4)
    assert re.search(r"Lazy evaluation +2/16 +4\.2 +1/2$", shown[-1][0], re.MULTILINE)


def test_nothing_is_written_outside_the_learners_copy(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    classroom.predict("4.3", 60)
    classroom.progress()
    assert list(tmp_path.iterdir()) == []
    assert "my_course/" in shown[-1][0]


def test_a_file_that_makes_no_sense_is_kept_beside(copy, shown):
    for number, text in enumerate(("{", "[]", '{"exercises": {"x": 1}}', "\udcff"), 1):
        (copy / record.FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
        classroom.predict("4.3", 60)
        assert "could not be read" in shown[-1][0]
        assert len(list(copy.glob(".progress.json.unreadable*"))) == number
        assert kept(copy)[find("4.3").name]["done"]


def test_exercises_of_another_edition_stay_and_count_for_nothing(copy, shown):
    old = {"exercises": {"gone-since": {"first": True, "done": True}}}
    (copy / record.FILE).write_text(json.dumps(old))
    classroom.predict("4.3", 60)
    assert "gone-since" in kept(copy) and "1/16" in progress.table(copy / record.FILE)[0]


def test_two_notebooks_at_once_lose_nothing(copy):
    def note(number: int) -> None:
        one = Exercise("4.2", f"name-{number}", "A title", lambda answer: "", ("", ""))
        record.note(Outcome(one, "right"))

    threads = [threading.Thread(target=note, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept(copy)) == 24
    assert {p.name for p in copy.iterdir()} == {"course", record.FILE, f"{record.FILE}.lock"}


def test_a_copy_that_cannot_be_written_to_is_said_and_no_error(copy, shown, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "replace", full)
    classroom.predict("4.3", 60)
    assert "right" in shown[-1][0] and "No space left on device" in shown[-1][0]
    assert not list(copy.glob(".progress.json.*[!k]"))


def test_progress_in_a_shell(copy, monkeypatch, capsys):
    classroom.predict("4.3", 60)
    capsys.readouterr()
    for folder in (copy / "course", copy, copy.parent):
        monkeypatch.chdir(folder)
        assert progress.main([]) == 0
        assert re.search(r"^4 +Lazy evaluation +1/16", capsys.readouterr().out, re.MULTILINE)
    assert progress.main(["--help"]) == 0 and progress.main(["more"]) == 2
