"""Who solves the projects in an unusual way gets all points, and who does half of a task gets half.

A file of `unusual/` has other solutions of some tasks; what it has not is the worked solution's. So
a whole submission is the two together, of which the last definition counts.
"""

from pathlib import Path

import pytest

from tests.grader.worked import PROJECTS, lost, worked

UNUSUAL = sorted((Path(__file__).parent / "unusual").glob("*.py"))


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Some functions write files, which is here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", UNUSUAL, ids=lambda path: path.stem)
def test_an_unusual_submission_gets_all_points(path):
    (of,) = (worked(name) for name in PROJECTS if name[:2] == path.name[:2])
    rows = of.rows(f"{of.text}\n{path.read_text()}", seed=path.stem)
    assert lost(rows) == {}, [row.found for row in rows if row.found]
    assert sum(row.points for row in rows) == 100
