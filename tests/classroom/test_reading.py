"""The tools of part 10a: walks, breakpoints without a terminal, and where nodes come from."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys

import pytest

from classroom import house, origins, paths, places, rooms, stops
from classroom.added import added
from classroom.exercise import Wrong
from classroom.learner import record
from classroom.paths import Walk, counted, walked, walks
from classroom.places import Place, fired, named, returned_by, said, seek
from classroom.puzzlebook import play
from classroom.stops import session, typed
from classroom.walking import ROOT, calls_of
from tests.repository.trunk import PACKAGE
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops
from tinyframe.viz.drawing import PAGE

# ---- walks ---------------------------------------------------------------------------------------


def test_a_walk_is_the_same_whatever_the_order_of_sets():
    done = subprocess.run(
        [sys.executable, "-m", "classroom.walking"], cwd=ROOT, capture_output=True, check=True,
        input=b'{"expressions": ["a + b"], "to": "C"}',
        env={**os.environ, **paths.SETTINGS, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "77"},
    )  # fmt: skip
    (answer,) = json.loads(done.stdout)
    assert [tuple(call) for call in answer["calls"]] == [*walked("a + b").calls]


def test_whoever_was_told_of_calls_is_told_again():
    heard = []

    def listener(frame, event, argument):
        heard.append(event)

    traced, profiled = sys.gettrace(), sys.getprofile()
    sys.setprofile(listener)
    try:
        calls = calls_of(lambda: Tensor([1.0]) + 1)
        again = sys.getprofile()
        with pytest.raises(ZeroDivisionError):
            calls_of(lambda: 1 / 0)
        assert sys.getprofile() is listener is again
    finally:
        sys.setprofile(profiled)
    assert ("tensor/elementwise.py", "Elementwise.add") in calls
    assert sys.gettrace() is traced and gc.isenabled()


def test_what_runs_while_a_file_is_imported_is_no_step_of_the_way():
    def work():
        import tinyframe.tools.conformance as module

        return module

    for name in [n for n in sys.modules if n == "tinyframe.tools.conformance"]:
        del sys.modules[name]
    assert not [call for call in calls_of(work) if call[0] == "tools/conformance.py"]


def test_an_expression_that_goes_nowhere_says_so():
    for expression, words in {"a +": "SyntaxError", "3": "gives a int"}.items():
        with pytest.raises(Wrong, match=words):
            walked(expression)
    with pytest.raises(ValueError):
        walks("a + b", to="nowhere")


def test_ours_is_drawn_until_there_is_a_way_of_the_learners(capsys):
    ours = rooms.farthest(...).expression
    assert rooms.farthest("a +").expression == ours != "a + b"
    assert rooms.farthest("a + b").expression == "a + b"
    assert "goes nowhere" in capsys.readouterr().out


def test_every_room_has_an_answer_and_exists():
    for number, room in enumerate(rooms.ROOMS, 1):
        assert (PACKAGE / room.file).exists() and rooms.answers_of(number), room.file
    assert counted(Walk("", (("b", "f"), ("a", "f"), ("b", "f")))) == {"b": 1, "a": 1}


# ---- breakpoints ---------------------------------------------------------------------------------


def kernel():
    (item,) = (Tensor([1.0, 2.0]).realize() * 3 + 1).schedule()
    return item.ast


def stops_here(u):
    breakpoint()


TABLE = PatternMatcher([(UPat(Ops.ADD, name="u"), stops_here)])


def compile_it():
    with added(TABLE):
        return get_program(kernel(), CStyleLanguage(), [])


def test_commands_are_typed_and_answered(capsys):
    with typed("p u.op.name", "up 5", "p name", "w", "args", "nonsense"):
        compile_it()
    said = capsys.readouterr().out
    assert "(Pdb) p u.op.name\n'ADD'\n" in said and "'your rules'" in said
    assert "graph_rewrite()" in said and "NameError" in said and said.endswith("(Pdb) continue\n")
    assert str(ROOT) not in said and not [w for w in said.split() if w.endswith(")") and "py(" in w]


def test_only_the_first_breakpoint_gets_commands_and_nothing_is_traced():
    hook, trace = sys.breakpointhook, sys.gettrace()
    with session(["p 1 + 1", "n", "s", "b 3", "q"]) as heard:
        compile_it()
        compile_it()
    assert len(heard) == 1 and stops.answers(heard[0]).splitlines()[0] == "2"
    assert heard[0].count("nobody waits here") == 3
    assert sys.breakpointhook is hook and sys.gettrace() is trace


def test_a_breakpoint_that_is_never_reached(capsys):
    with typed("w"):
        pass
    assert capsys.readouterr().out == "No breakpoint was reached.\n"


def test_the_debugger_sees_no_frame_outside_of_the_block():
    with session(["w", "up 50", "p len(__name__)"]) as heard:
        compile_it()
    assert "pytest" not in heard[0] and "_pytest" not in heard[0]


# ---- where a node comes from ---------------------------------------------------------------------


def test_a_function_without_lines_is_asked_for_again():
    with pytest.raises(Wrong, match="with `def`"):
        origins.left_of(eval(compile("lambda: 1", "<made up>", "eval")))


# ---- names ---------------------------------------------------------------------------------------


def test_what_is_no_name_is_refused():
    for answer in (3, [1, 2], Tensor([1.0]), 2.5):
        with pytest.raises(Wrong, match="has to be a name"):
            said(answer)
    assert said([Ops.ADD]) == "ADD" and said(places) == "classroom.places"
    assert named("x.sum(axis=1)[3]") == {"sum"}
    assert Place("renderer/__init__.py").is_meant_by("renderer/__init__.py")


def test_finding_leaves_a_profiler_alone():
    before = sys.getprofile()
    found = returned_by(kernel, lambda result, _: result is None, under="schedule/")
    assert sys.getprofile() is before and all(p.file.startswith("schedule/") for p in found)
    assert fired(lambda: None, lambda step, _: True) == []


def test_seek_prints_files_and_lines_without_numbers(capsys):
    seek("class Observer")
    seek("no such words anywhere")
    seek("def ", under="codegen/")
    said = capsys.readouterr().out
    assert said.startswith("observe.py  class Observer") and "\nnowhere\n" in said
    assert "more: say more" in said and PACKAGE.name not in said.split()[0]


# ---- the house -----------------------------------------------------------------------------------


def test_the_house_has_a_window_for_each_file_and_lights_those_of_a_walk():
    picture, files = house.by_walk("a + b"), house.floors()
    assert sum(map(len, files.values())) == len([*PACKAGE.rglob("*.py")])
    svg = picture.svg()
    assert svg.count(house.LIT) == 2 * len(walked("a + b").rooms)  # its fill and its line
    assert picture.drawing.width <= PAGE and "viz" in picture.text


def test_what_is_found_in_the_hunt_lights_a_window(tmp_path, monkeypatch):
    assert str(house.by_finds()).startswith("0 windows")
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    play.puzzle("minus", "difference")
    play.puzzle("one_turn", "fold")
    text = str(house.by_finds())
    assert text.startswith("1 window lit") and "codegen/decompose/idioms.py" in text
    assert "minus" in text and "one_turn" not in text
