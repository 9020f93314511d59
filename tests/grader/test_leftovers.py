"""Folders of graders that were killed are removed by the next one; those of the living stay."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from classroom.grader import leftovers
from classroom.grader.sandbox import Limits, Protection, Workplace, tried

HOLDS = """
import sys, time
from pathlib import Path
from classroom.grader import leftovers
leftovers.hold(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def made(temporary, name, age=60.0):
    folder = temporary / f"{leftovers.PREFIX}{name}"
    (folder / "work" / "deep").mkdir(parents=True)
    (folder / "work" / "deep" / "file").touch()
    then = folder.stat().st_mtime - age
    os.utime(folder, (then, then))
    return folder


def test_a_folder_stays_as_long_as_its_process_lives_and_goes_when_it_is_killed(temporary):
    folder = made(temporary, "one")
    command = [sys.executable, "-c", HOLDS, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        leftovers.sweep()
        assert (folder / "work" / "deep" / "file").exists()
        holder.kill()
        holder.wait()
        leftovers.sweep()
    assert not folder.exists()


def test_what_it_cannot_know_to_be_left_over_stays(temporary):
    young, other = made(temporary, "young", age=0), temporary / "somebody-else"
    other.mkdir()
    file = temporary / f"{leftovers.PREFIX}0.door"
    file.touch()
    link = temporary / f"{leftovers.PREFIX}link"
    link.symlink_to(other)
    leftovers.sweep()
    assert young.exists() and other.exists() and file.exists() and link.is_symlink()


def test_a_folder_that_is_closed_goes_too(temporary):
    folder = made(temporary, "closed")
    (folder / "work").chmod(0)
    leftovers.sweep()
    assert not folder.exists()


def test_what_is_tried_is_still_there_when_another_grader_sweeps(monkeypatch):
    """Or it would seem as if a process could not read what isn't there any more."""
    found = []

    def probe(self, told):
        monkeypatch.setattr(leftovers, "YOUNG", -1)
        leftovers.sweep()
        found.extend(map(os.path.exists, [*told["files"], *told["folders"]]))

    monkeypatch.setattr(Workplace, "probe", probe)
    monkeypatch.setattr(leftovers, "PREFIX", "tinyframe-of-this-test-")  # the others are not ours
    tried(Protection())
    assert len(found) > 3 and all(found)


def test_a_place_to_work_in_is_held_and_removed(temporary):
    with Workplace(Limits(), Protection(), {}) as place:
        os.utime(place.folder, (0, 0))
        leftovers.sweep()
        assert Path(place.folder).exists()
    assert not Path(place.folder).exists()
    again = leftovers.hold(temporary)
    assert again is not None
    os.close(again)
