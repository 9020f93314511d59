"""Under pytest: each test's kernels go to a Recorder, as those of its file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.replay.record import Recorder
from tests.replay.recording import Recording
from tinyframe.observe import observing


class Plugin:
    """Tells a Recorder, under pytest, which file's tests run."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.recorder.begin(item.nodeid.partition("::")[0])
        with observing(self.recorder):
            return (yield)


def record(recording: Recording, arguments: Sequence[str]) -> tuple[Recorder, int]:
    """Run tests in this process; the Recorder, and pytest's exit status."""
    recorder = Recorder(recording)
    options = ["-p", "no:cacheprovider", "--no-header", "-q", "--tb=line", *arguments]
    status = pytest.main(options, plugins=[Plugin(recorder)])
    return recorder, int(status)
