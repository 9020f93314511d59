"""What wants points without work gets none, and takes no longer than honest work may."""

import re
from pathlib import Path
from time import monotonic

import pytest

from classroom.grader.judge import grade
from classroom.grader.sandbox import Limits, best_protection
from tests.grader.here import parts_of
from tests.grader.worked import PROJECTS, gained, handed_in, worked

# Each is code after the file that was handed out, where nothing is written. FORGED are functions
# that answer with what is wrong and looks right; PATCHED change, before they answer, what answers
# are made with, and need a process of their own. Every one is about the tasks that it defines.
(_, COMMON), *ATTACKS = parts_of(Path(__file__).with_name("attacks.txt"))
FORGED, PATCHED = (
    {
        project: {about: code for about, code in ATTACKS if about.startswith(f"{kind} {project} ")}
        for project in {about.split()[1] for about, _ in ATTACKS}
    }
    for kind in ("FORGED", "PATCHED")
)
# Those that came with the course. Of a project of your own, what attacks it is yours to think of:
# a key in FORGED and PATCHED, and it is among them.
ATTACKED = [name for name in PROJECTS if name[:2] in FORGED]


pytestmark = pytest.mark.usefixtures("somewhere_else")


def together(attacks, tasks):
    """(code, tasks) of as few submissions as there can be: at most one attack on each task."""
    found = []
    for name, code in attacks.items():
        about = tasks & set(re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE))
        assert about, f"{name!r} is about none of {sorted(tasks)}"
        for one in found:
            if not one[1] & about:
                one[0] += code
                one[1] |= about
                break
        else:
            found.append([COMMON + code, about])
    return found


@pytest.mark.parametrize("name", ATTACKED)
def test_forged_answers_gain_nothing(name):
    of = worked(name)
    for code, tasks in together(FORGED[name[:2]], set(of.points)):
        rows = of.rows(of.starter.read_text() + code, seed=name, tasks=tasks)
        assert gained(rows) == {}, [row for row in rows if row.points]
        assert all(row.found for row in rows)


@pytest.mark.parametrize("name", ATTACKED)
def test_patches_of_its_own_process_gain_nothing(name, tmp_path):
    of = worked(name)
    for number, (code, _) in enumerate(together(PATCHED[name[:2]], set(of.points))):
        (tmp_path / str(number)).mkdir()
        path = handed_in(of, of.starter.read_text() + code, tmp_path / str(number))
        began = monotonic()
        report = grade(path, of.tasks, best_protection())
        limits = Limits().longer(of.project.times)
        assert (report.status, report.score) == ("graded", 0), report.notes
        assert monotonic() - began < limits.total_seconds * limits.clock


def test_there_are_at_least_ten_for_each_project():
    counts = {name: len(FORGED[name[:2]]) + len(PATCHED[name[:2]]) for name in ATTACKED}
    assert len(counts) >= 7 and all(count >= 10 for count in counts.values()), counts
