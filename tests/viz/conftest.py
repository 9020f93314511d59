"""What several files of tests of pictures use."""

from __future__ import annotations

import shutil

import pytest

from tinyframe.viz import layout


@pytest.fixture
def no_dot(monkeypatch):
    """Every machine lays out with the wheel, whether it has a `dot` or not."""
    which = shutil.which
    monkeypatch.setattr(layout.shutil, "which", lambda p: None if p == "dot" else which(p))
