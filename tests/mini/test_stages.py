"""Each stage of the reference passes on top of the stages below it; untouched files are open."""

from __future__ import annotations

import ast

import pytest

from classroom.mini import stages
from classroom.mini.check import Verdict
from classroom.mini.checking import run
from classroom.mini.judging import MEMORY, checks_of
from classroom.mini.stages import HANDED_OUT, REFERENCE, STAGES, up_to
from tests.mini.planted import paths_with, with_body

every_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)


def references(last) -> dict:
    return {stage.module: stage.reference for stage in up_to(last)}


@every_stage
def test_the_reference_passes_with_the_stages_below_it_only(stage):
    verdict = run(stage, references(stage))
    assert verdict.state == "right", verdict
    assert verdict.passed == len(checks_of(stage)) and not verdict.reason


@every_stage
def test_an_untouched_stage_is_open_and_nothing_in_it_raises(stage):
    verdict = run(stage, references(stage) | {stage.module: HANDED_OUT / stage.file})
    assert verdict.state == "open" and not verdict.trouble
    assert {result.state for result in verdict.results} == {"open"}
    assert list(verdict.unwritten) == stages.asked(stage)
    assert verdict.reason.endswith("are still open")


def test_all_untouched_stages_together_can_be_imported():
    paths = {stage.module: HANDED_OUT / stage.file for stage in STAGES}
    assert run(STAGES[-1], paths).state == "open"


def test_every_file_of_mini_is_a_stage():
    assert sorted(p.name for p in REFERENCE.glob("*.py")) == sorted(s.file for s in STAGES)
    assert sorted(p.name for p in HANDED_OUT.glob("*.py")) == sorted(s.file for s in STAGES)


@every_stage
def test_a_stage_imports_earlier_ones_only(stage):
    earlier = {one.module for one in up_to(stage)[:-1]}
    for node in ast.walk(ast.parse(stage.reference.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("mini"):
            assert node.module in earlier


def shares() -> dict[str, tuple[int, int]]:
    """Of each stage: the lines of code that the learner writes, and all of them."""
    found = {}
    for stage in STAGES:
        text = stage.reference.read_text()
        functions = stages.functions(text)
        theirs = set().union(*(functions[name].code for name in stages.asked(stage)))
        found[stage.name] = len(theirs), len(stages.code_lines(text))
    return found


def test_at_least_half_of_the_code_is_the_learners():
    theirs, everything = map(sum, zip(*shares().values(), strict=True))
    assert theirs >= everything / 2, shares()


@every_stage
def test_a_docstring_gives_the_meaning_and_two_examples(stage):
    tree = ast.parse(stage.reference.read_text())
    documented = {
        name: ast.get_docstring(node) or "" for name, node in stages.definitions(tree.body)
    }
    for name in stages.asked(stage):
        meaning, _, examples = documented[name].partition("Examples")
        assert len(meaning.split()) >= 3, name
        assert examples.count("\n- ") >= 2, name


@every_stage
def test_every_function_that_is_asked_for_is_checked(stage):
    assert {check.of for check in checks_of(stage)} == set(stages.asked(stage))
    for check in checks_of(stage):
        assert set(check.needs) <= set(stages.asked(stage)) and check.of not in check.needs


# ---- what a learner's file may do to the checks --------------------------------------------------


def verdict_of(tmp_path, text: str) -> Verdict:
    stage = STAGES[0]
    file = tmp_path / stage.file
    file.write_text(text)
    return run(stage, {stage.module: file})


REFERENCE_3 = STAGES[0].reference.read_text()


def test_the_rules_of_stage_5_pass_before_the_rest_of_it_is_written(tmp_path):
    """5a has the rules written, and `broadcast`, which arithmetic on nodes needs, comes in 5b."""
    stage = stages.find("5")
    text = stage.reference.read_text()
    asked = stages.asked(stage)
    later = tuple(asked[asked.index("pad_index") + 1 :])
    for function in later:
        text = with_body(text, function, "...")
    file = tmp_path / stage.file
    file.write_text(text)
    verdict = run(stage, references(stage) | {stage.module: file})
    assert verdict.unwritten == later and verdict.state == "open"
    assert {r.of for r in verdict.results if r.state == "right"} == set(asked) - {*later}


def test_a_file_that_is_not_python_is_told_its_line(tmp_path):
    verdict = verdict_of(tmp_path, REFERENCE_3.replace("def unflat(place, shape):", "def unflat("))
    assert verdict.trouble.startswith("part3.py does not run. SyntaxError")
    assert verdict.rows[0][0] == "line" and verdict.state == "wrong"


def test_a_file_that_raises_is_told_its_own_line(tmp_path):
    verdict = verdict_of(tmp_path, REFERENCE_3 + "\n\nflat((1, 2), (3,))\n")
    assert "part3.py does not run. ValueError" in verdict.trouble
    line = "for i, size in zip(index, shape, strict=True):"
    number = 1 + [text.strip() for text in REFERENCE_3.splitlines()].index(line)
    assert verdict.rows == (("your line", f"{number}: `{line}`"),)


def test_a_file_that_ends_python_ends_nothing_else(tmp_path):
    verdict = verdict_of(tmp_path, "import os\n\nos._exit(3)\n")
    assert verdict.trouble.startswith("Python itself stopped")


def test_memory_without_end_is_stopped(tmp_path):
    much = f"    numbers = bytearray({MEMORY})\n"
    start = REFERENCE_3.index("    ### BEGIN SOLUTION")
    verdict = verdict_of(tmp_path, REFERENCE_3[:start] + much + REFERENCE_3[start:])
    assert verdict.failed[0].of == "flat" and "ran out of memory" in verdict.failed[0].text


def test_what_it_prints_is_kept_apart(tmp_path):
    start = REFERENCE_3.index("    ### BEGIN SOLUTION")
    verdict = verdict_of(tmp_path, REFERENCE_3[:start] + "    print(1)\n" + REFERENCE_3[start:])
    assert verdict.state == "right" and verdict.printed.startswith("1\n1\n")


def test_a_function_that_is_gone_is_open(tmp_path):
    verdict = verdict_of(tmp_path, REFERENCE_3.replace("def unflat(", "def somewhere_else("))
    assert verdict.unwritten == ("unflat",)
    states = {result.of: result.state for result in verdict.results}
    assert states["unflat"] == states["Array.tolist"] == "open" and states["flat"] == "right"


def test_a_line_that_was_handed_out_is_not_called_the_learners(tmp_path):
    stage = stages.find(5)
    body = "return tuple(node.reshape(7) for node in nodes)"
    file = tmp_path / stage.file
    file.write_text(with_body(stage.reference.read_text(), "broadcast", body))
    first = run(stage, paths_with(stage, file)).failed[0]
    assert first.of == "broadcast" and body in dict(first.rows)["your line"]
