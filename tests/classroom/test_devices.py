"""Which devices work: `doctor` and `machine()` ask one command, which survives a broken driver."""

from __future__ import annotations

import subprocess

import pytest

from classroom import devices
from tinyframe import Device
from tinyframe.device import DeviceUnavailable


def missing(name):
    raise DeviceUnavailable("install its driver\n  and try again")


def test_the_command_prints_the_hardware_of_a_device_that_opens(monkeypatch, capsys):
    monkeypatch.setitem(Device._devices, "CL", Device._devices["NULL"])
    monkeypatch.setitem(devices.HARDWARE, "CL", lambda: ["one card", "another"])
    assert devices.main(["CL"]) == 0
    assert capsys.readouterr().out == "one card, another\n"


def test_the_command_says_in_one_line_why_a_device_cannot_be_used(monkeypatch, capsys):
    monkeypatch.setitem(Device._devices, "WEBGPU", missing)
    assert devices.main(["WEBGPU"]) == 1
    shown = capsys.readouterr().err
    assert shown == "device WEBGPU cannot be used here: install its driver and try again\n"


@pytest.mark.parametrize(
    "code, out, err, expected",
    [
        (0, "a card\n", "", ("a card", "")),
        (1, "", "device X cannot be used here: no driver\n", ("", "no driver")),
        (1, "", "Traceback …\nOSError: gone\n", ("", "OSError: gone")),
        (2, "", "", ("", "status 2")),
        (-11, "", "", ("", "its driver ended Python with signal 11")),
    ],
)
def test_what_came_of_trying_is_hardware_or_a_reason(monkeypatch, code, out, err, expected):
    asked = []

    def run(command, **how):
        asked.append((command[1:], how["env"]["CUDA_EMULATE"]))
        return subprocess.CompletedProcess(command, code, out, err)

    monkeypatch.setattr(subprocess, "run", run)
    assert devices.tried("CL") == expected
    assert asked == [(["-m", "classroom", "device", "CL"], "0")]


def test_every_device_either_works_or_has_a_reason():
    there, why_not = devices.there_and_missing()
    assert {*there, *why_not} == set(Device._devices) and not there.keys() & why_not.keys()
    assert {"CPU", "PYTHON", "NULL"} <= there.keys() and all(why_not.values())
    for name in there:
        assert Device.why_not(name) is None
