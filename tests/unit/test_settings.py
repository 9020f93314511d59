"""Settings: the environment now, a Context over it, and errors that say what is allowed."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyframe import Device
from tinyframe.peer_settings import INSTEAD
from tinyframe.settings import (
    Context,
    Settings,
    SettingWarning,
    UnknownSetting,
    check_environment,
    rows,
    settings,
    usable_cores,
)

FLAGS = [name for name, row in rows().items() if row.allowed == "0 or 1"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """None of our variables is set, whatever the tests themselves run under."""
    for name in rows():
        monkeypatch.delenv(name, raising=False)


# *** the environment ***


def test_without_anything_set_each_setting_has_its_default():
    defaults = {name: getattr(settings, name) for name in rows()}
    assert {name for name in FLAGS if defaults[name]} == {"JIT", "CACHE"}
    assert defaults["DEBUG"] == defaults["BEAM"] == 0
    assert defaults["DEVICE"] == defaults["CC"] == ""
    assert defaults["THREADS"] == usable_cores() >= 1
    assert isinstance(defaults["TINYFRAME_CACHE"], Path)
    assert isinstance(defaults["TINYFRAME_DATA"], Path)


def test_the_environment_is_read_at_each_use(monkeypatch):
    for value in ("2", "4", "0"):
        os.environ["DEBUG"] = value
        assert int(value) == settings.DEBUG
    monkeypatch.setattr(os, "environ", {"DEBUG": "3"})  # as some test tools do
    assert (settings.DEBUG, settings.BEAM) == (3, 0)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True,
                          cwd=Path(__file__).parents[2])  # fmt: skip


def test_a_variable_set_before_import_counts_and_platformdirs_is_not_imported():
    code = """if True:
        import sys
        from tinyframe.settings import settings
        print(settings.DEBUG, settings.DEVICE, "platformdirs" in sys.modules)"""
    assert python(code, DEBUG="3", DEVICE="cuda:1").stdout.split() == ["3", "cuda:1", "False"]


@pytest.mark.parametrize("name", ["DEBUG", "JIT", "DEVICE", "THREADS", "TINYFRAME_CACHE"])
def test_an_empty_variable_counts_as_not_set(monkeypatch, name):
    default = getattr(settings, name)
    monkeypatch.setenv(name, "")
    assert getattr(settings, name) == default


@pytest.mark.parametrize("name, text, value", [
    ("DEBUG", " 7 ", 7), ("BEAM", "100", 100), ("THREADS", "3", 3), ("JIT", "0", 0),
    ("DEVICE", "clang:0", "clang:0"), ("CC", "gcc-12 -m64", "gcc-12 -m64"),
    ("TINYFRAME_CACHE", "some/where", Path("some/where")),
])  # fmt: skip
def test_text_is_parsed_by_kind(monkeypatch, name, text, value):
    monkeypatch.setenv(name, text)
    assert getattr(settings, name) == value
    assert getattr(settings, name) == value  # once more, from what was kept


def test_the_default_folders_follow_the_users_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert settings.TINYFRAME_CACHE.is_relative_to(tmp_path)
    assert settings.TINYFRAME_DATA.is_relative_to(tmp_path)
    assert settings.TINYFRAME_CACHE != settings.TINYFRAME_DATA
    monkeypatch.setenv("TINYFRAME_DATA", "~/data")
    assert tmp_path / "data" == settings.TINYFRAME_DATA


@pytest.mark.parametrize("name, text", [
    ("DEBUG", "two"), ("DEBUG", "8"), ("DEBUG", "-1"), ("DEBUG", "1.0"), ("BEAM", "-1"),
    ("THREADS", "0"), ("JIT", "2"), ("CUDA", "/usr/local/cuda"), ("CACHE", "yes"), ("VIZ", " "),
    ("TINYFRAME_CACHE", " "), ("TINYFRAME_CACHE", "~nobody-of-that-name/x"),
])  # fmt: skip
def test_a_malformed_value_is_answered_with_what_is_allowed(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    for _ in range(2):  # the second time too: nothing of it was kept
        with pytest.raises(ValueError) as caught:
            getattr(settings, name)
        for part in (name, repr(text), rows()[name].allowed):
            assert part in str(caught.value)
    monkeypatch.delenv(name)
    with pytest.raises(ValueError, match=name):
        Context(**{name: text})
    for value in (2.0, None, [1], 1j, 8, -1):
        with pytest.raises(ValueError, match="DEBUG=.*0 to 7"):
            Context(DEBUG=value)


# *** what is set and would be ignored ***


def warnings_for(environment: dict[str, str]) -> list[str]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(os, "environ", environment)
        check_environment()
    assert all(warning.category is SettingWarning for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", INSTEAD)
def test_a_name_of_another_framework_is_answered_with_what_to_write_here(name):
    value = {"DEV": "CL", "DEFAULT_FLOAT": "HALF", "CACHEDB": "/tmp/cache.db"}.get(name, "1")
    (message,) = warnings_for({name: value})
    assert message.startswith(f"{name}={value} does nothing in tinyframe: ")
    written = re.findall(r"\b([A-Z_]{2,})(?:=([A-Z\d:]+))?(?= |,|;|$)", message.partition(": ")[2])
    for setting, to in written:  # what it says is there
        if to:
            assert rows()[setting].from_text(to) is not None


@pytest.mark.parametrize(("name", "value", "meant"), [
    ("DEVISE", "CL", "DEVICE=CL"), ("BEEM", "2", "BEAM=2"), ("DEBUGG", "1", "DEBUG=1"),
    ("THREDS", "2", "THREADS=2"), ("DEBGU", "4", "DEBUG=4"), ("debug", "2", "DEBUG=2"),
    ("Device", "cl", "DEVICE=cl"), ("WEBGPUS", "1", "WEBGPU=1"), ("WEPGPU", "1", "WEBGPU=1"),
    ("CUDA_EMULAT", "1", "CUDA_EMULATE=1"), ("NO_COLOUR", "1", "NO_COLOR=1"),
])  # fmt: skip
def test_a_slip_of_the_finger_is_answered_with_a_question(name, value, meant):
    (message,) = warnings_for({name: value})
    assert message == f"{name}={value} does nothing in tinyframe: did you mean {meant}?"


@pytest.mark.parametrize(("name", "value"), [
    ("LLVM", "/usr/lib/llvm-16"), ("DEV", "true"), ("METAL", "0"), ("METAL", ""), ("BEEM", "red"),
    ("TEAM", "3"), ("CUDA_HOME", "/usr/local/cuda"), ("CXX", "g++"), ("PATH", "/usr/bin"),
    ("PYTHONPATH", "."), ("XDG_CACHE_HOME", "/x"), ("CPUS", "2"), ("HOME", "/"), ("DEVISE", ""),
    ("CPU", os.uname().machine),  # which openSUSE sets
    *[(name, value) for name in FLAGS for value in "01"],
])  # fmt: skip
def test_nothing_is_said_of_a_setting_or_of_what_is_for_another_program(name, value):
    assert warnings_for({name: value}) == []


def test_import_says_it_in_one_line_and_goes_on():
    done = python("import tinyframe; print(tinyframe.Tensor([2]).tolist())", METAL="1", BEEM="2")
    assert done.stdout == "[2]\n"
    # from Python 3.13 on, the line of -c that warns is quoted below each warning
    said = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
    metal, beam = sorted(said, key=lambda line: "BEEM" in line)
    assert "SettingWarning: METAL=1 does nothing in tinyframe: WEBGPU=1 computes on" in metal
    assert "SettingWarning: BEEM=2 does nothing in tinyframe: did you mean BEAM=2?" in beam


@pytest.mark.parametrize(("name", "value"), [("DEBUG", "x"), ("CPU", "x87")])
def test_import_refuses_a_malformed_value_whoever_reads_it_later(name, value):
    done = python("import tinyframe", **{name: value})
    assert done.stderr.splitlines()[-1].startswith(f"ValueError: {name}='{value}': must be ")


@pytest.mark.parametrize("flag", ["CPU", "CLANG", "CL", "OPENCL", "GPU", "CUDA", "NV", "WEBGPU",
                                  "PYTHON", "NULL"])  # fmt: skip
def test_each_device_can_be_named_by_a_flag(flag):
    with Context(**{flag: 1}):
        assert Device.DEFAULT == Device.canonicalize(flag)


def test_a_device_of_another_framework_is_answered_with_what_to_write_here():
    with pytest.raises(ValueError, match=r"unknown device 'METAL' \(WEBGPU=1 computes on a Mac's"):
        Device["METAL"]
    with pytest.raises(UnknownSetting, match=r"unknown setting 'METAL' \(WEBGPU=1 computes on"):
        Context(METAL=1)


# *** Context ***


def test_context_wins_over_the_environment_and_gives_way_after(monkeypatch):
    monkeypatch.setenv("DEBUG", "1")
    with Context(DEBUG=2, NOOPT=1):
        assert (settings.DEBUG, settings.NOOPT) == (2, 1)
        with Context(DEBUG=0):
            assert (settings.DEBUG, settings.NOOPT) == (0, 1)
            monkeypatch.setenv("DEBUG", "4")
            assert settings.DEBUG == 0
        assert (settings.DEBUG, settings.NOOPT) == (2, 1)
    assert (settings.DEBUG, settings.NOOPT) == (4, 0)


@given(st.lists(st.dictionaries(st.sampled_from(["DEBUG", "BEAM", "THREADS"]), st.integers(1, 7))))
def test_contexts_nest_to_any_depth(layers):
    def enter(depth: int, expected: dict[str, int]) -> None:
        assert expected == {name: getattr(settings, name) for name in expected}
        if depth < len(layers):
            with Context(**layers[depth]):
                enter(depth + 1, {**expected, **layers[depth]})
            assert expected == {name: getattr(settings, name) for name in expected}

    enter(0, {"DEBUG": 0, "BEAM": 0, "THREADS": usable_cores()})


def test_one_context_can_be_entered_again_inside_itself_and_ends_with_an_exception():
    context = Context(DEBUG=2)
    with pytest.raises(KeyError), context:
        with context:
            assert settings.DEBUG == 2
        assert settings.DEBUG == 2
        raise KeyError
    assert settings.DEBUG == 0


def test_context_decorates_a_recursive_function():
    @Context(BEAM=3)
    def beams(depth: int) -> list[int]:
        return [settings.BEAM, *(beams(depth - 1) if depth else [])]

    assert beams(2) == [3, 3, 3]
    assert beams.__name__ == "beams"
    assert settings.BEAM == 0


def test_a_context_holds_in_its_own_thread_only():
    inside, shared = threading.Barrier(2, timeout=10), Context(BEAM=5)

    def work(debug: int) -> tuple[int, ...]:
        with shared, Context(DEBUG=debug):
            inside.wait()
            seen = settings.DEBUG, settings.BEAM
            inside.wait()
        return *seen, settings.DEBUG, settings.BEAM

    with Context(DEBUG=4), ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, [1, 2])) == [(1, 5, 0, 0), (2, 5, 0, 0)]
        assert settings.DEBUG == 4


def test_a_context_holds_in_its_own_asyncio_task_only():
    async def work(debug: int) -> int:
        with Context(DEBUG=debug):
            await asyncio.sleep(0)
            return settings.DEBUG

    async def both() -> list[int]:
        return await asyncio.gather(work(1), work(2))

    assert asyncio.run(both()) == [1, 2]


@pytest.mark.parametrize("name, value, expected", [
    ("DEBUG", "2", 2), ("DEBUG", True, 1), ("NOOPT", False, 0), ("DEVICE", "CUDA", "CUDA"),
    ("DEVICE", "", ""), ("TINYFRAME_DATA", Path("a/b"), Path("a/b")),
    ("TINYFRAME_DATA", "a/b", Path("a/b")),
])  # fmt: skip
def test_context_takes_what_the_environment_takes_and_its_python_form(name, value, expected):
    with Context(**{name: value}):
        got = getattr(settings, name)
        assert got == expected and type(got) is type(expected)


@pytest.mark.parametrize("error", [ValueError, AttributeError, UnknownSetting])
def test_an_unknown_setting_is_answered_with_the_nearest_and_all(error):
    said = r"'DEBG' \(did you mean DEBUG\?\).*VIZ, VIZ_TRACE, BEAM.*TINYFRAME_DATA"
    with pytest.raises(error, match=said):
        Context(DEBG=1, BEAM=2)
    with pytest.raises(error, match="did you mean DEBUG"):
        _ = settings.debug
    with pytest.raises(error, match="unknown setting 'XYZZY'; there are"):
        _ = settings.XYZZY


def test_settings_cannot_be_assigned():
    with pytest.raises(AttributeError, match=r"Context\(DEBUG=2\).*os.environ"):
        settings.DEBUG = 2
    with pytest.raises(UnknownSetting, match="DEBUG"):
        settings.DEBUGG = 2
    assert settings.DEBUG == 0


# *** the table ***


def test_describe_has_one_line_for_each_setting():
    header, *lines = settings.describe().splitlines()
    assert header.split() == ["name", "default", "allowed", "meaning"]
    assert [line.split()[0] for line in lines] == list(rows())
    for line, row in zip(lines, rows().values(), strict=True):
        assert row.default_text in line and row.allowed in line and line.endswith(row.meaning)


def test_every_default_is_itself_allowed():
    for name, row in rows().items():
        value = getattr(settings, name)
        assert row.from_python(value) == value and getattr(Settings, name) is row
