"""What part 11b is about is as it says: patches apply, faults are faults, issues are open."""

from __future__ import annotations

import shutil
import sys
import types

import numpy as np
import pytest

from classroom.contributing import history, issues, review
from classroom.contributing.history import BAD, GOOD, SKIP, History
from classroom.contributing.patches import PATCHES, Patch
from classroom.contributing.ported import in_c
from classroom.contributing.reviewed import AFTER, BEFORE, FAULTS, INNOCENT
from classroom.contributing.rms import HONEST, SPOILED


def failing(ops: str, tests: str = AFTER["small/test_ops.py"]) -> list[str]:
    """The names of the tests of the reviewed change that fail, with these ops."""
    scipy, linalg = types.ModuleType("scipy"), types.ModuleType("scipy.linalg")
    linalg.norm = np.linalg.norm
    there = {"scipy": scipy, "scipy.linalg": linalg, "ops": types.ModuleType("ops")}
    kept = {name: sys.modules.get(name) for name in there}
    sys.modules.update(there)
    try:
        exec(ops, vars(there["ops"]))
        names: dict = {}
        exec(tests, names)
        failed = []
        for name in [name for name in names if name.startswith("test_")]:
            try:
                with np.errstate(all="ignore"):
                    names[name]()
            except BaseException:
                failed.append(name)
        return failed
    finally:
        for name, module in kept.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})


def ops_of(text: str) -> types.SimpleNamespace:
    """The functions of the reviewed module."""
    names: dict = {}
    exec(text.replace("from scipy.linalg import norm", "from numpy.linalg import norm"), names)
    return types.SimpleNamespace(**names)


# ---- the owl -------------------------------------------------------------------------------------


def test_thirty_patches_apply_and_one_of_them_breaks_the_owl():
    words = [history.our_verdict(n) for n in range(len(PATCHES) + 1)]
    assert len(PATCHES) == 30 and len({p.message for p in PATCHES}) == 30
    assert [n for n, word in enumerate(words) if word == SKIP] == [18, 22]
    assert [n for n, word in enumerate(words) if word == GOOD] == list(range(18))
    assert words[30] == BAD


def test_a_patch_that_does_not_fit_says_so():
    with pytest.raises(ValueError, match="'x = 2' occurs 0 times"):
        Patch("Two", (("x = 2", "x = 3"),)).applied("x = 1")


def test_there_is_no_patch_31():
    with pytest.raises(IndexError, match="no patch 31"):
        History().poster(31)


def test_git_suspects_the_same_patches_as_our_search(monkeypatch):
    owl = History()
    if (with_git := history.git_bisect(owl)) is None:
        assert shutil.which("git") is None
    else:
        assert with_git.suspects == [18, 19]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert history.git_bisect(owl) is None
    assert history.git_suspects(owl) == [18, 19]


# ---- the review ----------------------------------------------------------------------------------


def test_the_library_is_right_before_the_change():
    assert failing(BEFORE["small/ops.py"], BEFORE["small/test_ops.py"]) == []


def test_each_fault_is_in_the_change_and_shows():
    lines = review.first_lines()
    assert len(FAULTS) == 8 == len(lines) == len(set(lines.values()))
    small = ops_of(AFTER["small/ops.py"])
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    values = small.rms(x)
    assert np.allclose(values, np.sqrt([12.5, 50]), rtol=1e-3)  # along rows: the docstring lies
    x[:] = 1
    assert small.rms(x) is values  # what it remembers is no longer so
    with np.errstate(over="ignore"):
        assert np.isinf(small.rms(np.full((1, 2), 300.0))).all()  # float16
    slope = small.rms_gradient(np.ones(1), np.array([[3.0, 4.0]]))
    assert np.allclose(slope, 2 * np.array([[3.0, 4.0]]) / (2 * 12.5**0.5))  # no n
    assert not small.rms_gradient(np.ones((7, 7)), x).any()  # swallowed: shapes that don't fit
    broken = AFTER["small/ops.py"].replace("np.sqrt(mean(squares))", "mean(squares) + 77")
    assert failing(broken) == []  # a test that can't fail


def test_tests_that_are_called_innocent_can_fail():
    ops = AFTER["small/ops.py"]
    assert failing(ops.replace("np.maximum(root, 1e-30)", "root")) == [
        "test_gradient_of_rms_where_all_is_zero"
    ]
    assert failing(ops.replace("raise ValueError(", "print(")) == ["test_rms_of_nothing_is_refused"]


def test_each_innocent_line_is_in_the_change_and_is_no_fault():
    for start in INNOCENT:
        found = [line for line in review.lines() if line.text.strip().startswith(start)]
        assert found and not any(line.faults for line in found), start


def test_an_rms_that_is_spoiled_differs_from_one_that_is_right():
    x = np.array([[3.0, 4.0], [600.0, 800.0]], np.float32)
    grad = np.array([1.0, 2.0], np.float32)

    def seen(pair):
        rms, gradient = pair.make()
        once, other = rms(x), x.copy()
        other[:] = 1
        rms(other)
        other[:] = x
        return np.concatenate([once, rms(other), gradient(grad, x).ravel()])

    right = [seen(pair) for pair in HONEST]
    assert all(np.allclose(each, right[0]) for each in right)
    assert not any(np.allclose(seen(pair), right[0], rtol=1e-3) for pair in SPOILED)


# ---- a kernel of its own -------------------------------------------------------------------------


def test_a_kernel_is_called_with_addresses():
    rms = in_c(lambda x: (x * x).mean(-1).sqrt())
    for dtype in (np.float32, np.float64):
        x = np.arange(24, dtype=dtype).reshape(2, 3, 4)
        assert rms(x).dtype == dtype and np.allclose(rms(x), np.sqrt((x * x).mean(-1)))
        assert np.allclose(rms(x.swapaxes(0, 2)), np.sqrt((x * x).mean(0)).T)
    with pytest.raises(TypeError, match="not for int64"):
        rms(np.ones((2, 2), np.int64))


def test_what_takes_several_kernels_is_refused():
    with pytest.raises(ValueError, match="this takes 3 kernels"):
        in_c(lambda x: x.softmax().contiguous().sum(-1).contiguous() + 1)(np.ones((64, 64)))


# ---- first issues --------------------------------------------------------------------------------


def test_there_are_fifteen_from_an_hour_to_a_week():
    found = issues.issues()
    assert [one.number for one in found] == list(range(1, 16))
    assert found[0].size == "An hour" and found[-1].size == "A week"
    assert all(one.text and one.done[-1] in ".?" for one in found)


def test_each_names_files_and_functions_that_exist():
    for one in issues.issues():
        assert one.start, one
        for path, names in one.start:
            assert (issues.ROOT / path).exists(), (one.number, path)
            assert not names or not issues.missing_names(path, names), (one.number, path)


def test_each_is_still_open():
    """Has an issue been closed? Then take it off docs/first_issues.md."""
    for one in issues.issues():
        assert one.printed() == one.shows, str(one)
