"""Tests of a device that not every machine has are collected where it can be opened."""

from __future__ import annotations

from tests import devices

collect_ignore = [] if "WEBGPU" in devices.there() else ["test_webgpu.py"]
