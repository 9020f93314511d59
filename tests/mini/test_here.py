"""The strip of stages: coloured are those that are the learner's, and one is where they are."""

from __future__ import annotations

import pytest

from classroom.learner import record
from classroom.mini.here import WORDS, you_are_here
from classroom.mini.stages import STAGES


def test_the_reference_is_as_far_as_the_course():
    before, after = you_are_here("5").text, you_are_here("5", is_built=True).text
    assert before.startswith("the reference") and before.count("✓") == 3
    assert "5 movement (you are here)" in before and "5 movement ✓ (you are here)" in after
    assert len(WORDS) == len(STAGES)


def test_a_part_without_a_stage_comes_after_them_all():
    picture = you_are_here("8d")
    assert picture.text.count("✓") == len(STAGES) and "you are here" not in picture.text
    assert "8d: you have all of it" in picture.svg()


@pytest.mark.parametrize("part", ["3", "7b", "8d"])
def test_a_learners_stages_are_those_that_have_passed(part, tmp_path, monkeypatch):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    (tmp_path / record.COPY / record.FILE).write_text(
        '{"exercises": {"mini-4": {"done": true}, "mini-7c": {"done": true}}}'
    )
    text = you_are_here(part).text
    assert text.startswith("your own") and text.count("✓") == 2
    assert "4 graph ✓" in text and "7c fast loops ✓" in text
