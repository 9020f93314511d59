"""Every planted mistake is told so, in a sentence that says what is wrong with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from classroom.mini.stages import STAGES, asked
from tests.mini.judged import verdicts
from tests.mini.planted import owner, paths_with, with_body


def mistakes_of(stage):
    path = Path(__file__).parent / "mistakes" / stage.file
    spec = importlib.util.spec_from_file_location(f"mistakes_{stage.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MISTAKES


PLANTED = [(stage, *mistake) for stage in STAGES for mistake in mistakes_of(stage)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The verdicts on all mistakes of a stage, by its name."""
    found = {}

    def verdict(stage, function, body):
        if stage.name not in found:
            folder, files = tmp_path_factory.mktemp("planted"), []
            for number, (of, wrong, _) in enumerate(mistakes_of(stage)):
                (folder / str(number)).mkdir()
                files.append(folder / str(number) / stage.file)
                files[-1].write_text(with_body(stage.reference.read_text(), of, wrong))
            found[stage.name] = verdicts(stage, [paths_with(stage, file) for file in files])
        places = [(of, wrong) for of, wrong, _ in mistakes_of(stage)]
        return found[stage.name][places.index((function, body))]

    return verdict


@pytest.mark.parametrize(
    "stage, function, body, told", PLANTED, ids=[f"{s.name}-{f}-{t[:30]}" for s, f, _, t in PLANTED]
)
def test_a_mistake_is_told_plainly(judged, stage, function, body, told):
    verdict = judged(stage, function, body)
    assert not verdict.trouble
    first = verdict.failed[0]
    assert told in first.text, first.text
    of = owner(function, asked(stage))
    assert first.of == of
    assert verdict.state == "wrong" and verdict.reason == f"a check of `{of}` fails"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_function_that_is_asked_for_has_a_planted_mistake(stage):
    there = asked(stage)
    assert {owner(function, there) for function, _, _ in mistakes_of(stage)} == set(there)
    assert len(mistakes_of(stage)) >= 5
