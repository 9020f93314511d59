"""What is right passes, however it is written: only what it does is checked."""

from __future__ import annotations

from importlib import import_module

import pytest

from classroom.mini.stages import STAGES
from tests.mini.judged import verdicts
from tests.mini.planted import paths_with, with_body

RIGHTS = {
    stage.name: import_module(f"tests.mini.rights.part{stage.name}").RIGHTS for stage in STAGES
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The verdicts on everything that is right in a stage, by its name."""
    found = {}

    def verdict(stage, number):
        if stage.name not in found:
            folder, files = tmp_path_factory.mktemp("rights"), []
            for count, (function, body) in enumerate(RIGHTS[stage.name]):
                (folder / str(count)).mkdir()
                files.append(folder / str(count) / stage.file)
                files[-1].write_text(with_body(stage.reference.read_text(), function, body))
            found[stage.name] = verdicts(stage, [paths_with(stage, file) for file in files])
        return found[stage.name][number]

    return verdict


@pytest.mark.parametrize(
    "stage, number",
    [(stage, number) for stage in STAGES for number in range(len(RIGHTS[stage.name]))],
    ids=[f"{name}-{n}-{f}" for name, rows in RIGHTS.items() for n, (f, _) in enumerate(rows)],
)  # fmt: skip
def test_a_right_and_unusual_way_passes(judged, stage, number):
    verdict = judged(stage, number)
    assert verdict.state == "right", (verdict.trouble, verdict.failed)
