"""A scratch copy of tinyframe: what is put into it runs there, and nowhere else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from classroom.contributing import scratch
from classroom.contributing.clocks import BENCHMARK, INNOCENT, MISTAKES, lines, mistakes
from classroom.contributing.drive_by import HUNKS
from classroom.contributing.job import told
from classroom.contributing.scratch import ORIGINAL, SPECIAL, TESTS, Clone, inserted, source_of
from tinyframe import Tensor

CLASS = '''\
import math


class Special:
    """Functions."""

    def twice(self):
        return self + self
'''


def twice(self):
    """Two of them."""
    return self * 2


def thrice(self):
    return self * 3


def helper(x):
    return x


def written() -> list:
    """What somebody might put into a copy."""

    def test_of_twice():
        assert Tensor([2.0]).doubled().item() == 4

    def test_of_one():
        np.testing.assert_array_equal(Tensor([1.0]).numpy(), [1.0])

    return [test_of_twice, test_of_one]


def unwritten(self): ...


@pytest.fixture(scope="module")
def clone():
    return Clone()


@pytest.fixture(autouse=True)
def tinyframe_stays_as_it_is(clone):
    before = (ORIGINAL.parent / SPECIAL).read_bytes()
    yield
    clone.undo()
    assert (ORIGINAL.parent / SPECIAL).read_bytes() == before
    assert str(clone.diff()) == "No difference."


# ---- a function as a text ------------------------------------------------------------------------


def test_a_method_goes_into_the_class_and_takes_the_place_of_the_one_of_its_name():
    text = inserted(CLASS, source_of(twice))
    assert text.count("def twice") == 1 and "        return self * 2\n" in text
    text = inserted(text, source_of(thrice))
    assert text.endswith("\n\n    def thrice(self):\n        return self * 3\n")


def test_a_helper_goes_in_front_of_the_class_and_back_into_its_place():
    text = inserted(CLASS, source_of(helper))
    assert "import math\n\n\ndef helper(x):\n    return x\n\n\nclass Special" in text
    assert inserted(text, source_of(helper)) == text


def test_a_new_file_imports_what_it_uses(clone):
    clone.write(TESTS, source_of(written()[0]))
    assert "from tinyframe import Tensor\n" in clone.text(TESTS)
    assert "numpy" not in clone.text(TESTS)
    clone.write(TESTS, source_of(written()[1]))
    assert "import numpy as np\n\nfrom tinyframe import Tensor\n\n\n" in clone.text(TESTS)
    assert clone.text(TESTS).count("import") == 3 and clone.text(TESTS).count("def ") == 2
    subprocess.run(["python3", "-m", "py_compile", clone.folder / TESTS], check=True)


# ---- what runs there -----------------------------------------------------------------------------


def test_the_copy_runs_what_was_put_into_it_also_when_it_was_changed_a_moment_ago(clone, capsys):
    clone.put(written()[0], TESTS)
    for factor, verdict in ((3, "FAILED"), (2, "passed")):
        body = f'def doubled(self):\n    """Twice."""\n    return self * {factor}\n'
        clone.save(SPECIAL, inserted(clone.text(SPECIAL), body))
        clone.run_tests()
        assert f"{verdict}  test_of_twice" in capsys.readouterr().out
    assert not hasattr(Tensor, "doubled")


def test_a_copy_that_cannot_be_imported_says_so(clone, capsys):
    clone.save(SPECIAL, "def broken(:\n")
    clone.save(TESTS, "")
    clone.run_tests()
    assert "can't even be imported" in capsys.readouterr().out


def test_what_is_not_written_yet_is_not_put(clone, capsys):
    for function, said in ((unwritten, "Nothing to write yet"), (len, "with `def`")):
        clone.put(function, SPECIAL)
        assert said in capsys.readouterr().out


def test_with_git_it_is_a_repository_and_without_it_everything_else_works(monkeypatch, capsys):
    with_git = Clone()
    monkeypatch.setattr(scratch.shutil, "which", lambda name: None)
    without = Clone()
    for clone in (with_git, without):
        clone.put(twice, SPECIAL)
        assert clone.size() == (1, 4, 0)
        clone.commit("Tensor.twice: two of them")
        assert capsys.readouterr().out.endswith("1 file, 4 lines more, 0 lines less\n")
    assert not Path(without.folder, ".git").exists()
    monkeypatch.undo()
    if shutil.which("git"):
        log = subprocess.run(["git", "log", "--format=%s by %an"], cwd=with_git.folder,
                             capture_output=True, text=True, check=True)  # fmt: skip
        assert log.stdout.splitlines()[0] == "Tensor.twice: two of them by you"


def test_the_first_words_of_an_error_are_told_also_where_its_first_line_is_empty():
    with pytest.raises(AssertionError) as caught:
        np.testing.assert_allclose([1.0], [2.0])
    assert str(caught.value).startswith("\n")
    assert told(caught.value, "nowhere.py")["text"].startswith("Not equal to tolerance")


# ---- what is planted -----------------------------------------------------------------------------


def test_each_line_that_the_drive_by_changes_is_there_once():
    for hunk in HUNKS.values():
        assert (ORIGINAL.parent / hunk.path).read_text().count(hunk.old) == 1, hunk.function


def test_each_mistake_of_the_benchmark_is_on_a_line_of_its_own_and_the_others_are_known():
    assert sorted(m.line for m in mistakes().values()) == sorted(m.line for m in MISTAKES)
    compile(BENCHMARK, "benchmark", "exec")
    starts = tuple(INNOCENT)
    for number, line in lines().items():
        assert number in mistakes() or line.strip().startswith((*starts, "def ")), line
