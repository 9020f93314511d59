"""Part 9's toys: what the gullible graders fall for, and that pictures and files say what is so."""

from __future__ import annotations

from inspect import getsource

import pytest

from classroom.toys import files, graders
from classroom.toys.grading import Here, refused
from tinyframe import Tensor


def in_a_module(text):
    return Here(text).module.larger


@pytest.mark.parametrize("text", files.HONEST.values(), ids=files.HONEST)
def test_honest_work_gets_all_points_from_everybody(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submission.py").write_text(text)
    for grader in (graders.first, graders.second):
        assert grader(in_a_module(text)) == 100
    assert graders.third(in_a_module(text)) in (0, 100)  # arithmetic brings a number of its own


def test_the_third_grader_sees_a_max_and_numbers_from_elsewhere():
    assert graders.third(in_a_module(files.UNDER_ANOTHER_NAME)) == 0
    assert graders.third(in_a_module(files.COUSINS["does it all in NumPy"])) == 0
    assert graders.third(in_a_module(files.HONEST["by choosing"])) == 100


def test_the_second_grader_reads_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submission.py").write_text("# no maximum in here\n")
    assert graders.second(in_a_module(files.HONEST["by choosing"])) == 0


def test_each_cousin_is_right_about_something():
    a, b = Tensor([1.0, 5.0, 2.0]), Tensor([4.0, 3.0, 2.5])
    for text in files.COUSINS.values():
        assert in_a_module(text)(a, b).tolist() == [4.0, 5.0, 2.5]


def test_a_mistake_in_a_check_is_told_apart_from_a_complaint():
    def broken(ask):
        return ask.flaots(3)

    assert refused(broken, files.SQUARES) == "AttributeError"
    with pytest.raises(AttributeError):
        refused(broken, files.HONEST["by choosing"], is_honest=True)


def test_the_graders_fit_on_a_screen():
    for grader in (graders.first, graders.second, graders.third, graders.main):
        assert len(getsource(grader).splitlines()) <= 12
