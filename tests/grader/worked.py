"""A project's worked solution, for tests that change it in places and grade it in this process."""

import functools
import os
import re
import subprocess
import sys

from classroom.grader.judge import load_project, tasks_of
from classroom.grader.sandbox import ROOT
from tests.grader.here import rows

PROJECTS = sorted(path.stem for path in (ROOT / "solutions" / "projects").glob("*.py"))
TASK = re.compile(r'^(?:def|class) (\w+).*:\n    """Task (\d+) \((\d+) points\)', re.MULTILINE)


class Worked:
    """The solution's text, the starter that is handed out, and the project with its checks."""

    def __init__(self, name):
        self.name = name
        self.path = ROOT / "solutions" / "projects" / f"{name}.py"
        self.starter = ROOT / "projects" / f"{name}.py"
        self.tasks = tasks_of(name)
        self.text = self.path.read_text()
        self.project = load_project(self.tasks)
        # each task's points, as the starter says them
        self.points = {task: int(points) for task, _, points in TASK.findall(self.text)}

    def changed(self, *pairs):
        """The text with a different one in places."""
        text = self.text
        for right, other in pairs:
            assert text.count(right) == 1, f"{right} is there {text.count(right)} times"
            text = text.replace(right, other)
        return text

    def touched(self, *pairs):
        """The tasks whose functions such a change is in."""
        before = [self.text.partition(right)[0] for right, _ in pairs]
        return {re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE)[-1] for text in before}

    def rows(self, text, seed="0", tasks=None):
        """What becomes of each check, or of those of some tasks."""
        return rows(self.project, text, seed, tasks)

    def lost(self, text, seed="0"):
        return lost(self.rows(text, seed))


worked = functools.cache(Worked)


def lost(rows):
    """The points that are lost, task by task."""
    found = {}
    for row in rows:
        found[row.task] = found.get(row.task, 0) + row.of - row.points
    return {task: points for task, points in found.items() if points}


def gained(rows):
    return {row.task: row.points for row in rows if row.points}


def printed(text, folder, name):
    """What the program prints, run as a file of this name in this folder."""
    path = folder / f"{name}.py"
    path.write_text(text)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
