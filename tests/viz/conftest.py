"""What several files of tests of pictures use."""

from __future__ import annotations

import shutil

import pytest

from tests import gpu_device
from tinyframe.device import Device
from tinyframe.viz import layout


@pytest.fixture
def blocks(monkeypatch):
    """A device of blocks and threads."""
    monkeypatch.setitem(Device._devices, "BLOCKS", gpu_device.BlocksDevice)


@pytest.fixture
def no_dot(monkeypatch):
    """Every machine lays out with the wheel, whether it has a `dot` or not."""
    which = shutil.which
    monkeypatch.setattr(layout.shutil, "which", lambda p: None if p == "dot" else which(p))
