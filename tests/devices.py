"""The devices that this machine has, for tests that run on each of them."""

from __future__ import annotations

from tinyframe import Device

ALL = ("CPU", "CL", "WEBGPU", "PYTHON")


def there() -> list[str]:
    """Those of all devices that can be opened here."""
    return [name for name in ALL if Device.why_not(name) is None]
