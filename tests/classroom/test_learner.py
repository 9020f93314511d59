"""What a learner sees and what is kept: limits on time, sentences, signs, progress."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path
from types import SimpleNamespace, TracebackType
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import classroom
from classroom import limit
from classroom.build import clean_environment
from classroom.exercise import Exercise, Open, Outcome, Wrong, judge
from classroom.exercises import find
from classroom.frames import learners_lines
from classroom.learner import progress, record, show, start_page, tell
from classroom.limit import OutOfTime, time_limit
from tests.classroom.sample import two_parts  # noqa: F401
from tinyframe import Context
from tinyframe.settings import settings
from tinyframe.uop import Ops, UOp

ROOT = Path(__file__).resolve().parents[2]
FORM = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "check.yml").read_text())

pytestmark = pytest.mark.usefixtures("two_parts")


def exercise(check=lambda answer: "Yes.", **more) -> Exercise:
    return Exercise("9.2", "a-name", "A title", check, ("One.", "Two."), **more)


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
    assert outcome.state == "wrong" and "Stopped after 0.1 seconds" in outcome.text
    assert re.fullmatch(r"\d+: `(while True:|pass)`", dict(outcome.rows)["your line"])


def test_an_answer_that_catches_everything_once_is_still_stopped():
    def stubborn():
        try:
            threading.Event().wait()
        except BaseException:
            threading.Event().wait()

    outcome = judge(exercise(lambda answer: answer(), seconds=0.05), stubborn)
    assert "Stopped after" in outcome.text


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


def test_an_error_on_no_line_at_all_is_told_the_line_that_led_there():
    """Python adds instructions that are on no line, and a limit on time may stop just there."""

    def inner():
        return sys._getframe()

    def outer():
        return inner(), sys._getframe()

    (frame, around), number = outer(), inner.__code__.co_firstlineno + 1
    inside = TracebackType(None, frame, 0, number)
    for no_line in (-1, None):
        nowhere = SimpleNamespace(tb_frame=around, tb_lineno=no_line, tb_next=inside)
        (line,) = learners_lines(nowhere)
        assert (line.number, line.text) == (number, "return sys._getframe()")


def test_code_that_is_on_no_line_names_none():
    """Python itself puts instructions into a function that belong to no line of it."""

    def answer():
        raise ValueError("x")

    answer.__code__ = answer.__code__.replace(co_linetable=b"")
    outcome = judge(exercise(lambda function: function()), answer)
    assert outcome.text == "Your answer raised ValueError: x"
    assert "None" not in str(outcome.rows) and "-1" not in str(outcome.rows)


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


def test_an_alarm_that_rings_again_at_once_leaves_signals_as_they_were(monkeypatch):
    """As on a busy machine, where the first one's exception has not got there by the second."""
    monkeypatch.setattr(limit, "AGAIN", 2e-5)
    before = signal.getsignal(signal.SIGALRM)
    for _ in range(300):
        with pytest.raises(OutOfTime), time_limit(1e-4):
            while True:
                pass
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
        outcome = judge(find("9.5"), lambda a: a.flip((0, 1)).T)
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
    assert text == "✗ 9.2 wrong. Too few.\n    case  `a < b`\n    got   1"
    assert "✗ 9.2 wrong." in html and "<code>a &lt; b</code>" in html


def test_a_wrong_graph_is_drawn_beside_what_was_asked_for(shown):
    classroom.check("9.4", lambda a, b: a * b * b + a)
    (said, _), (text, markup) = shown
    assert "✗ 9.4 wrong." in said
    assert text.splitlines()[0] == "two graphs: yours has one MUL more"
    assert {"yours", "what was asked for"} <= set(text.splitlines())
    assert "[only here] MUL" in text and "a = " in text
    assert "<img alt=" in markup


@pytest.mark.parametrize("arg", ["nonsense", (3,), None])
def test_a_graph_that_cannot_be_drawn_still_gets_its_sentence(shown, arg):
    classroom.check("9.4", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (a * b,), arg))
    assert "✗ 9.4 wrong." in shown[0][0]


def test_without_a_notebook_the_two_graphs_are_printed(capsys):
    classroom.check("9.4", lambda a, b: a * b * b + a)
    assert "two graphs: " in capsys.readouterr().out


def test_a_prediction_says_where_to_look_and_folds_the_reason(shown):
    guessed = exercise(shown_by="the next cell", because="`x` is < 3.")
    show.outcome(Outcome(guessed, "right"))
    show.outcome(Outcome(guessed, "wrong", "you guessed 1"), note="A note.")
    assert [text for text, _ in shown] == [
        "✓ 9.2 right. Run the next cell to see what happens.\nWhy: `x` is < 3.",
        "✗ 9.2 not this time: you guessed 1. Run the next cell to see what happens.\nA note.\n"
        "Why: `x` is < 3.",
    ]
    for _, html in shown:
        hidden = re.search("<details>.*</details>", html)[0]
        assert "Why</summary><code>x</code> is &lt; 3." in hidden
        assert "&lt; 3" not in html.replace(hidden, "")


def test_the_reason_cannot_be_seen_before_a_guess(shown):
    reasons = [find(n).because for n in ("9.1", "9.6")]
    for number, guess in (("9.1", ...), ("9.1", "x"), ("9.6", (1, 2)), ("9.6", None)):
        classroom.predict(number, guess)
    classroom.hint("9.1")
    for pages in shown:
        assert "Why" not in "".join(pages)
        assert not any(reason in page for reason in reasons for page in pages)


def test_a_prediction_that_cannot_be_checked_is_not_counted_as_wrong():
    def broken(guess):
        raise RuntimeError("no compiler")

    outcome = judge(exercise(broken, shown_by="the next cell"), 3)
    assert outcome.state == "open"
    assert "Checking this raised RuntimeError: no compiler" in outcome.text


def test_hints_have_levels_and_say_how_to_get_the_next(shown):
    classroom.hint("9.2")
    classroom.hint("9.2", 2)
    classroom.hint("9.2", 99)
    first, second, last = (text for text, _ in shown)
    assert find("9.2").hints[0] in first and 'For more: `hint("9.2", 2)`.' in first
    assert find("9.2").hints[1] in second and "For more" not in second
    assert all('`answer("9.2")` shows a worked answer' in text for text in (second, last))
    assert "That was the last hint" in last


@pytest.mark.parametrize("number", ["9.99", "7.1", "four", "", 9])
def test_an_exercise_that_is_not_there_is_a_sentence(shown, number):
    classroom.check(number, 1)
    classroom.hint(number)
    assert all("There is no exercise" in text for text, _ in shown) and len(shown) == 2


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
    name = find("9.3").name
    for guess, expected in (
        ("sixty", None),  # no guess at all
        (61, {"first": False, "done": True}),
        (60, {"first": False, "done": True}),
        (62, {"first": False, "done": True}),
    ):
        classroom.predict("9.3", guess)
        assert (kept(copy)[name] if expected else (copy / record.FILE).exists()) == (
            expected or False
        )
    classroom.predict("9.1", 0)
    assert kept(copy)[find("9.1").name] == {"first": True, "done": True}
    classroom.progress(9)
    assert re.search(r"A larger part +2/6 +9\.2 +1/2 +-$", shown[-1][0], re.MULTILINE)


def test_a_second_guess_is_told_that_the_first_one_counts(copy, shown):
    for guess in (61, 60):
        classroom.predict("9.3", guess)
    assert [record.SECOND_GUESS in text for text, _ in shown] == [False, True]
    assert "✓ 9.3 right." in shown[1][0]


def test_hints_go_on_where_one_left_off(copy, shown):
    for _ in range(3):
        classroom.hint("9.2")
    classroom.hint("9.2", 1)
    first, second, third, again = (text for text, _ in shown)
    assert "hint 1 of 2" in first and "hint 2 of 2" in second and again == first
    assert "That was the last hint" in third
    assert kept(copy)[find("9.2").name] == {"hints": 2, "helped": False}


def test_without_a_copy_the_first_hint_is_always_the_first(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    classroom.hint("9.2")
    classroom.hint("9.2")
    assert shown[0] == shown[1]


def test_a_worked_answer_is_shown_with_its_reason_and_counted(copy, shown, monkeypatch):
    classroom.answer("9.2")
    classroom.check("9.2", lambda t, op: sum(u.op is op for u in t.uop.toposort()))
    assert "for u in tensor.uop.toposort()" in shown[0][0] and "SOLUTION" not in shown[0][0]
    assert "✓ 9.2 right." in shown[1][0] and record.LOOKED_UP in shown[1][0]
    assert "<pre" in shown[0][1]
    assert kept(copy)[find("9.2").name] == {"done": True, "helped": True, "hints": 0}
    classroom.progress(9)
    assert re.search(r"A larger part +1/6 +9\.1 +- +1$", shown[-1][0], re.MULTILINE)


def test_a_worked_answer_that_is_only_compared_is_no_help(copy, shown):
    classroom.predict("9.3", 61)
    classroom.answer("9.3")
    assert kept(copy)[find("9.3").name] == {
        "done": True, "first": False, "helped": False, "hints": 0
    }  # fmt: skip
    assert "? 9.3, the answer:" in shown[-1][0]


def test_the_answer_to_a_prediction_is_computed_and_is_no_guess(copy, shown):
    classroom.answer("9.6")
    classroom.predict("9.6", (1, 1, 2, 1, 2))
    assert "(1, 1, 2, 1, 2)" in shown[0][0]
    entry = kept(copy)[find("9.6").name]
    assert entry["done"] and "first" not in entry  # done, and no guess right first time


def test_reset_forgets_what_is_named_and_nothing_else(copy, shown):
    for number, guess in (("9.1", 0), ("9.3", 60), ("8.1", 1)):
        classroom.predict(number, guess)
    before = kept(copy)
    classroom.reset("9.1")
    assert "Forgotten: 9.1." in shown[-1][0]
    assert kept(copy) == {k: v for k, v in before.items() if k != find("9.1").name}
    classroom.predict("9.1", 5)
    classroom.reset(9)
    assert "Forgotten: 9.1, 9.3." in shown[-1][0]
    assert set(kept(copy)) == {find("8.1").name}
    for nothing in ("9.1", 9, "9"):
        classroom.reset(nothing)
        assert "Nothing was recorded for" in shown[-1][0]
    classroom.reset("9.99")
    assert "There is no exercise" in shown[-1][0] and set(kept(copy)) == {find("8.1").name}


def test_what_the_first_page_promises_works_in_every_notebook(copy):
    """Whatever a notebook imports: IPython has a %reset of its own, which deletes all variables."""
    cells = ["from classroom import check\nmine = 3", 'hint("1.1")', 'reset("1.1")',
             'answer("1.1")', "progress(1)", "print(mine)"]  # fmt: skip
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute(
        env=clean_environment() | {"PYTHONPATH": str(ROOT)}, cwd=str(copy / "course")
    )
    said = [cell.outputs[-1] for cell in notebook.cells[1:]]
    words = [output.get("text") or output["data"]["text/plain"] for output in said]
    beginnings = ("? 1.1, hint 1 of ", "! Forgotten: 1.1.", "? 1.1, ", "part ", "3\n")
    assert all(map(str.startswith, words, beginnings)), words


def test_reset_outside_a_copy_does_nothing_and_says_why(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    classroom.reset("9.1")
    assert "my_course/" in shown[-1][0] and list(tmp_path.iterdir()) == []


def test_a_number_without_quotes_is_asked_for_in_quotes(shown):
    for call in (classroom.hint, classroom.answer, classroom.reset):
        call(9.10)  # which is 9.1
    assert all("in quotes" in text for text, _ in shown) and len(shown) == 3


def test_nothing_is_written_outside_the_learners_copy(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    classroom.predict("9.3", 60)
    classroom.progress()
    assert list(tmp_path.iterdir()) == []
    assert "my_course/" in shown[-1][0]


def test_a_file_that_makes_no_sense_is_kept_beside(copy, shown):
    for number, text in enumerate(("{", "[]", '{"exercises": {"x": 1}}', "\udcff"), 1):
        (copy / record.FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
        classroom.predict("9.3", 60)
        assert "could not be read" in shown[-1][0]
        assert len(list(copy.glob(".progress.json.unreadable*"))) == number
        assert kept(copy)[find("9.3").name]["done"]


def test_exercises_of_another_edition_stay_and_count_for_nothing(copy, shown):
    old = {"exercises": {"gone-since": {"first": True, "done": True}}}
    (copy / record.FILE).write_text(json.dumps(old))
    classroom.predict("9.3", 60)
    assert "gone-since" in kept(copy) and "1/6" in progress.table(copy / record.FILE)[0]


def test_two_notebooks_at_once_lose_nothing(copy):
    def note(number: int) -> None:
        one = Exercise("9.2", f"name-{number}", "A title", lambda answer: "", ("", ""))
        record.note(Outcome(one, "right"))

    threads = [threading.Thread(target=note, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept(copy)) == 24
    files = {"course", record.FILE, f"{record.FILE}.lock", start_page.PAGE}
    assert {path.name for path in copy.iterdir()} == files


def test_a_copy_that_cannot_be_written_to_is_said_and_no_error(copy, shown, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    classroom.predict("9.3", 60)
    assert "right" in shown[-1][0] and "No space left on device" in shown[-1][0]
    assert not list(copy.glob("*.unfinished"))


def test_progress_in_a_shell(copy, monkeypatch, capsys):
    classroom.predict("9.3", 60)
    capsys.readouterr()
    for folder in (copy / "course", copy, copy.parent):
        monkeypatch.chdir(folder)
        assert progress.main([]) == 0
        assert re.search(r"^9 +A larger part +1/6", capsys.readouterr().out, re.MULTILINE)
    assert progress.main(["--help"]) == 0 and progress.main(["more"]) == 2


# ---- telling us ----------------------------------------------------------------------------------


def test_a_wrong_answer_can_be_told_to_whoever_keeps_the_course(monkeypatch):
    def mine(a):
        return a - 1

    wrong = Outcome(exercise(), "wrong", "Too few & late.", (("got", "1"),))
    forms = {}
    for place in ("https://github.com/ann/tiny", "https://gitlab.com/ann/tiny"):
        monkeypatch.setattr(tell, "_place", lambda place=place: place)
        links = [unescape(a) for a in re.findall(r'href="([^"]+)"', tell.us(wrong, mine))]
        forms[place] = [(urlsplit(a).path, dict(parse_qsl(urlsplit(a).query))) for a in links]
    (path, alone), (_, full) = forms["https://github.com/ann/tiny"]
    assert path == "/ann/tiny/issues/new" and alone["exercise"] == "9.2" and "answer" not in alone
    assert alone["said"] == "Too few & late.\ngot: 1" and "Python 3." in alone["versions"]
    assert "return a - 1" in full["answer"]
    fields = {field["id"] for field in FORM["body"] if "id" in field}
    assert {*full} - {"template", "title"} <= fields and full["template"] == "check.yml"
    assert "return a - 1" in forms["https://gitlab.com/ann/tiny"][1][1]["issue[description]"]
    assert tell.us(Outcome(exercise(), "right"), mine) == ""
    monkeypatch.setattr(tell, "_place", lambda: "")
    assert tell.us(wrong, mine) == ""
