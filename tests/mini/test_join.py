"""python -m classroom mini: the table, one file of all stages, training on digits."""

from __future__ import annotations

import ast
import io
from contextlib import redirect_stdout

import pytest

from classroom.__main__ import main
from classroom.mini import command, digits, loader
from classroom.mini.check import Verdict
from classroom.mini.checking import verdict
from classroom.mini.judging import checks_of
from classroom.mini.stages import HANDED_OUT, STAGES, code_lines


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A learner's copy, in which stage 4 is written; the working directory is beside it."""
    folder = tmp_path_factory.mktemp("root") / "my_course"
    (folder / "mini").mkdir(parents=True)
    for stage in STAGES:
        (folder / "mini" / stage.file).write_text((HANDED_OUT / stage.file).read_text())
    (folder / "mini" / "part4.py").write_text(STAGES[1].reference.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        patch.setenv("TINYFRAME_CACHE", str(folder.parent / "cache"))
        yield folder


@pytest.fixture(scope="module")
def joined(copy):
    with redirect_stdout(io.StringIO()) as said:
        assert main(["mini", "join"]) == 0
    assert said.getvalue().startswith("my_mini.py: ")
    assert "passes the checks of every stage" in said.getvalue()
    return copy / "my_mini.py"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_as_one_file_it_passes_the_checks_of_every_stage(joined, stage):
    found = verdict(stage, {one.module: joined for one in STAGES})
    assert found.state == "right", found


def test_a_stage_that_fails_as_one_file_is_named(joined, monkeypatch, capsys):
    monkeypatch.setattr(command, "verdict", lambda stage, paths: Verdict(
        stage.name, trouble="It is 4b." * (stage.name == "4b")))  # fmt: skip
    assert main(["mini", "join"]) == 1
    assert "does not pass the checks of stage 4b." in capsys.readouterr().out


def test_the_one_file_imports_nothing_of_mini_and_has_no_marks(joined):
    text = joined.read_text()
    assert "mini.part" not in text and "SOLUTION" not in text
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert len(names) == len(set(names)), "a later stage would replace a function of an earlier one"
    assert not set(names) & set(dir(__builtins__)), "it would hide a function of Python's"


def test_the_one_file_is_short(joined):
    """A whole framework, its compiler included, in fewer than 900 lines of code."""
    assert len(code_lines(joined.read_text())) < 900


def test_the_one_file_has_every_line_of_code_once(joined):
    def lines(text):
        kept = [text.splitlines()[n - 1].strip() for n in code_lines(text)]
        return sorted(line for line in kept if not line.startswith(("import ", "from ")))

    parts = [line for stage in STAGES for line in lines(stage.reference.read_text())]
    assert lines(joined.read_text()) == sorted(parts)


def test_the_table_of_stages(copy, capsys):
    assert main(["mini"]) == 0
    heading, three, four, *_ = capsys.readouterr().out.splitlines()
    assert heading.split() == ["stage", "checks", "lines", "of", "yours", "of", "all"]
    assert three.split()[0] == "3" and "0/18" in three and three.endswith("flat, unflat and 5 more")
    words, count = four.split(), len(checks_of(STAGES[1]))
    assert words[:4] == ["4", "Lazy", "Tensors", f"{count}/{count}"] and int(words[4]) > 15


def test_join_says_which_stages_are_the_references(joined):
    text = joined.read_text()
    assert "# Stage 3 (the reference):" in text and "# Stage 4: a Tensor" in text


def test_digits_over_95_percent_and_the_same_every_time(capsys):
    loader.use(STAGES[-1])
    trained = digits.train(epochs=5)
    printed = capsys.readouterr().out
    assert trained.accuracy > 0.95
    assert printed.count("epoch ") == 5 and printed.startswith("epoch  1 of 5: loss 1.")
    assert trained.losses[-1] < trained.losses[0] / 5
    assert (trained.guesses == trained.labels).mean() == trained.accuracy
    again = digits.train(epochs=1, show=False)
    assert again.losses == trained.losses[: len(again.losses)]
    assert capsys.readouterr().out == ""
