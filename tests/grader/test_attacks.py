"""What wants points without work gets none, and takes no longer than honest work may."""

import re

import pytest

from tests.grader.attacks import COMMON, FORGED
from tests.grader.worked import PROJECTS, gained, worked


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Some functions write files, which is here."""
    monkeypatch.chdir(tmp_path)


def together(attacks, tasks):
    """(names, code, tasks) of as few submissions as there can be: at most one attack on a task."""
    found = []
    for name, code in attacks.items():
        about = tasks & set(re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE))
        assert about, f"{name!r} is about none of {sorted(tasks)}"
        for one in found:
            if not one[2] & about:
                one[0].append(name)
                one[1] += code
                one[2] |= about
                break
        else:
            found.append([[name], COMMON + code, about])
    return found


@pytest.mark.parametrize("name", PROJECTS)
def test_forged_answers_gain_nothing(name):
    of = worked(name)
    for _, code, tasks in together(FORGED[name[:2]], set(of.points)):
        rows = of.rows(of.starter.read_text() + code, seed=name, tasks=tasks)
        assert gained(rows) == {}, [row for row in rows if row.points]
        assert all(row.found for row in rows)
