"""What part 8a measures: a compiler is there or its absence is said, and each picture has its
numbers."""

import ast
import sys
from dataclasses import replace

import numpy as np
import pytest

from classroom.mini import compiler, digits, figures, own_c
from classroom.mini.stages import STAGES


@pytest.fixture
def mini():
    own_c.module("part7c")
    return own_c.module("part8")


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "MODULE", "ziglang_that_is_not_there")


def test_a_compiler_that_works_is_no_trouble():
    assert compiler.trouble_with_c() == ""


def test_the_command_is_the_one_that_mini_finds(mini, monkeypatch, tmp_path):
    assert compiler.command() == mini.find_compiler()
    monkeypatch.setenv("CC", "zig cc")
    assert compiler.command() == mini.find_compiler() == ["zig", "cc"]
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler.command() == mini.find_compiler() == [sys.executable, "-m", "ziglang", "cc"]


def test_without_a_compiler_it_says_what_to_do(no_compiler, capsys):
    assert compiler.compiler()
    assert "`python3 start.py` brings one" in capsys.readouterr().out


def test_a_compiler_that_fails_is_quoted(monkeypatch):
    monkeypatch.setenv("CC", f"{sys.executable} -c 1/0")
    assert "ZeroDivisionError" in compiler.trouble_with_c()
    monkeypatch.setenv("CC", "no_such_compiler_anywhere")
    assert "no_such_compiler_anywhere" in compiler.trouble_with_c()


def test_cells_are_skipped_until_there_is_a_compiler(no_compiler, monkeypatch):
    skipping = compiler.Skipping()
    kept = skipping.visit(ast.parse("cc = compiler()"))
    skipped = skipping.visit(ast.parse("use_mini('8')\nTensor.run = run_on(CRunner)"))
    assert ast.unparse(kept) == "cc = compiler()"
    assert "Nothing happens here without a C compiler" in ast.unparse(skipped)
    monkeypatch.undo()
    assert ast.unparse(skipping.visit(ast.parse("x = 1"))) == "x = 1"


def test_a_device_is_used_inside_and_not_afterwards(mini):
    before = mini.Tensor.__dict__["run"]
    with pytest.raises(ZeroDivisionError), own_c.on(mini.PythonRunner):
        misses = mini.runner.cache_info().misses
        assert (mini.Tensor([1.0, 2.0, 3.0, 4.0, 5.0]) * 7.25).numpy().tolist()[1] == 14.5
        assert mini.runner.cache_info().misses == misses + 1
        raise ZeroDivisionError
    assert mini.Tensor.__dict__["run"] is before


def test_a_loose_name_gives_a_wrong_result_and_a_strict_one_a_right_one(mini):
    a, b = mini.Tensor([1.0, 2.0]), mini.Tensor([10.0, 20.0])
    for name, second in ((lambda sink: "", [11.0, 44.0]), (lambda sink: sink, [110.0, 440.0])):
        with own_c.kept_by(name):
            assert ((a + b) * a).numpy().tolist() == [11.0, 44.0]
            assert ((a + b) * b).numpy().tolist() == second


def test_a_step_has_the_same_loss_on_every_device(mini):
    steps = [own_c.one_step(device, rows=4) for device in (None, mini.PythonRunner, mini.CRunner)]
    assert np.allclose([step.loss for step in steps], steps[0].loss, rtol=1e-5)


def test_a_captured_training_is_the_same_training(mini):
    with own_c.on(mini.CRunner):
        plain = digits.train(2, show=False)
        captured = digits.train(2, show=False, capture=mini.jit)
    assert np.allclose(plain.losses, captured.losses, rtol=1e-3)
    assert plain.accuracies == captured.accuracies


def test_tensors_of_an_optimizer_whatever_they_are_called(mini):
    class Own:
        def __init__(self):
            self.one, self.many = mini.Tensor([1.0]), [mini.Tensor([2.0]), (mini.Tensor([3.0]),)]
            self.by_name = {"again": self.one, self.many[0]: 4}
            self.rate = 0.1

    own = Own()
    assert {id(t) for t in digits.tensors_of(own)} == {
        id(own.one), id(own.many[0]), id(own.many[1][0])
    }  # fmt: skip


def test_a_program_of_several_kernels_is_refused(mini):
    a = mini.Tensor(np.ones((4, 4)))
    with pytest.raises(ValueError, match="2 kernels"):
        own_c.program_of((a @ a) @ a)


def test_a_climb_refuses_what_is_no_product(mini, monkeypatch):
    monkeypatch.setattr(own_c, "N", 16)
    a, b, c = (mini.Tensor(np.ones((16, 16))) for _ in range(3))
    with pytest.raises(ValueError, match="not one for a @ b"):
        own_c.climb({"square": own_c.program_of(a @ a)})
    with pytest.raises(ValueError, match="something else"):
        own_c.climb({"sum": own_c.program_of(a @ b + a)})
    assert c.shape == (16, 16)


def test_the_page_has_the_figures_and_the_whole_framework(mini, monkeypatch, tmp_path):
    monkeypatch.setattr(own_c, "N", 16)
    monkeypatch.setattr(own_c, "STEPS", 2)
    a, b = (mini.Tensor(np.ones((16, 16))) for _ in range(2))
    product = own_c.program_of(a @ b)
    climbed = own_c.climb({"as it was": product, "to be written": ...})
    assert set(climbed.seconds) == {"as it was"} and climbed.best == climbed.seconds["as it was"]
    raced, painting = own_c.race(), own_c.painted(own_c.julia)
    assert len(raced.seconds) == 3 and painting.brightness.shape == (own_c.SIDE, own_c.SIDE)
    with own_c.on(mini.CRunner):
        learned = {"two layers": digits.train(5, show=False)}
    page = figures.figures(learned, raced, climbed, painting, own_c.Step(5.0, 2.7))
    assert "over 95% of the digits: True" in repr(page)
    text = page.save(tmp_path / "page.html").read_text()
    assert "<svg" in text and "class PythonRunner" in text and "&quot;&quot;&quot;" in text
    assert f"{learned['two layers'].accuracy:.1%}" in text
    assert page.save(tmp_path / "page.svg").read_text().startswith("<svg")
    assert page.headline == "A deep-learning framework" and "for a learner to write" in text

    chosen = [replace(choice, is_learners=True) for choice in figures.loader.choose(STAGES[-1])]
    monkeypatch.setattr(figures.loader, "choose", lambda last: chosen)
    own = figures.figures(learned, raced, climbed, painting)
    assert own.headline == "I wrote a deep-learning framework"
    assert f"{len(STAGES)} of {len(STAGES)} stages pass" in own.svg()
    assert "written by me" in own.svg() and "the reference" not in own.svg()


def test_durations_are_said_as_people_do():
    said = [figures.duration(seconds) for seconds in (0.254, 2.36, 119.0, 2300.0)]
    assert said == ["0.25 s", "2.4 s", "119.0 s", "38 min"]
