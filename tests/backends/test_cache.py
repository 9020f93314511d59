"""The disk cache: made once, private, never trusted when damaged, never in the way."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tinyframe import disk_cache as cache
from tinyframe.disk_cache import CacheWarning, cache_folder, cached
from tinyframe.settings import Context

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache folder of the test's own, not there yet."""
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CACHE", "1")
    monkeypatch.setattr(cache, "_usable", {})
    monkeypatch.setattr(cache, "_writes", 0)
    return tmp_path / "cache"


class Make:
    """Gives other data at each call, and counts them."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return f"made {self.calls}".encode()


def entries(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_was_made_is_not_made_again():
    make = Make()
    assert cached("programs", ("gcc", "source"), make) == b"made 1"
    assert cached("programs", ("gcc", "source"), make) == b"made 1"
    assert make.calls == 1


@pytest.mark.parametrize(
    ("kind", "key"),
    [("programs", ("gcc", "other")), ("programs", ("clang", "source")),
     ("macros", ("gcc", "source")), ("programs", ("gccs", "ource")), ("programs", ("gccsource",)),
     ("programs", ("gcc", "source", ""))],
)  # fmt: skip
def test_another_key_is_another_entry(kind, key):
    make = Make()
    cached("programs", ("gcc", "source"), make)
    assert cached(kind, key, make) == b"made 2"


def test_the_file_of_an_entry_starts_with_its_data():
    for _ in range(2):
        found = cached("programs", ("a",), lambda: b"\0data\xff")
        assert found.path is not None
        assert found.path.read_bytes().startswith(b"\0data\xff")


def test_empty_data_is_an_entry_too():
    make = Make()
    cached("programs", ("empty",), bytes)
    assert cached("programs", ("empty",), make) == b""
    assert make.calls == 0


@pytest.mark.parametrize(
    "damage",
    [lambda whole: whole[:-1], lambda whole: whole[:5], lambda whole: b"",
     lambda whole: b"X" + whole[1:], lambda whole: whole[:-20] + b"X" + whole[-19:],
     lambda whole: whole + b"more", lambda whole: bytes(len(whole))],
    ids=["cut by one", "cut short", "empty", "first byte", "checksum", "longer", "zeros"],
)  # fmt: skip
def test_a_damaged_entry_is_made_again_and_mended(damage):
    make = Make()
    path = cached("programs", ("key",), make).path
    path.write_bytes(damage(path.read_bytes()))
    assert cached("programs", ("key",), make) == b"made 2"
    assert cached("programs", ("key",), make) == b"made 2"


def test_an_error_while_making_is_passed_on_and_leaves_nothing(folder):
    with pytest.raises(ZeroDivisionError):
        cached("programs", ("key",), lambda: bytes(1 // 0))
    assert entries(folder) == []
    assert cached("programs", ("key",), Make()) == b"made 1"


def test_cache_0_neither_reads_nor_writes(folder):
    make = Make()
    cached("programs", ("key",), make)
    before = entries(folder)
    with Context(CACHE=0):
        assert cache_folder() is None
        assert cached("programs", ("key",), make) == b"made 2"
        assert cached("programs", ("other",), make).path is None
    assert entries(folder) == before
    assert cached("programs", ("key",), make) == b"made 1"


# *** whom the folder belongs to ***


def test_the_folder_is_made_for_this_user_alone(folder):
    cached("programs", ("key",), Make())
    for path in [folder, *folder.rglob("*")]:
        assert path.stat().st_mode & 0o022 == 0
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    make = Make()
    with pytest.warns(CacheWarning, match="can be written to by others.*chmod go-w"):
        cached("programs", ("key",), make)
    assert cached("programs", ("key",), make) == b"made 2"
    assert entries(folder) == []


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert cache_folder() is None


def test_a_folder_that_others_can_read_is_fine(folder):
    folder.mkdir(mode=0o755)
    assert cache_folder() == folder


# *** a disk that does not let us ***


def test_a_path_that_cannot_be_a_folder_is_said_once_and_then_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / place))
        make = Make()
        with pytest.warns(CacheWarning, match="Continuing without it"):
            assert cached("programs", ("key",), make) == b"made 1"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert cached("programs", ("key",), make) == b"made 2"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_cannot_be_written_to_is_said_once(folder, monkeypatch, number):
    def write_bytes(path, data):
        with open(path, "wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(number, os.strerror(number))

    make = Make()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        with pytest.warns(CacheWarning, match=os.strerror(number)):
            found = cached("programs", ("key",), make)
        assert found == b"made 1"
        assert found.path is None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert cached("programs", ("key",), make) == b"made 2"
    assert entries(folder) == []


def test_an_interrupt_while_writing_leaves_nothing_and_does_no_harm(folder, monkeypatch):
    def interrupted(source, target):
        raise KeyboardInterrupt

    make = Make()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cached("programs", ("key",), make)
    assert entries(folder) == []
    assert cached("programs", ("key",), make) == b"made 2"
    assert cached("programs", ("key",), make) == b"made 2"


# *** size ***


def test_beyond_its_size_the_oldest_entries_go(folder, monkeypatch):
    paths = []
    for n in range(10):
        path = cached("programs", (str(n),), lambda: bytes(1000)).path
        os.utime(path, (n, n))
        paths.append(path)
    monkeypatch.setattr(cache, "MOST_BYTES", 8 * paths[0].stat().st_size)
    cache._evict(folder / "programs")
    assert [path.exists() for path in paths] == [False] * 4 + [True] * 6
    cache._evict(folder / "programs")
    assert sum(path.exists() for path in paths) == 6


def test_size_is_looked_at_while_writing(folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 5000)
    monkeypatch.setattr(cache, "_CHECK_EVERY", 1)
    for n in range(50):
        cached("programs", (str(n),), lambda: bytes(1000))
        assert sum(path.stat().st_size for path in entries(folder)) <= 5000


# *** many at once ***

WORKER = """
import sys
from tinyframe.disk_cache import cached
for turn in range(3):
    for n in range(40):
        data = b"%d " % n * 2000
        assert cached("programs", (str(n),), lambda: data) == data, n
print("good")
"""


def test_many_processes_may_share_a_folder(folder):
    command = [sys.executable, "-W", "error", "-c", WORKER]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(4)]
    assert [process.communicate()[0].strip() for process in running] == [b"good"] * 4
    assert len(entries(folder)) == 40
