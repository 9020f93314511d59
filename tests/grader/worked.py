"""A project's worked solution, for tests that change it in places and grade it in this process."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys

from classroom.grader.judge import load_project, place_of, tasks_of
from classroom.grader.sandbox import ROOT
from tests.grader.here import rows

TASKS = (ROOT / "solutions" / "projects" / "tasks").glob("*.py")
PROJECTS = sorted(path.stem for path in TASKS)
TASK = re.compile(r'^(?:def|class) (\w+).*:\n    """Task (\d+) \((\d+) points\)', re.MULTILINE)


class Worked:
    """The solution's text, the starter that is handed out, and the project with its checks."""

    def __init__(self, name):
        self.name = name
        self.tasks = tasks_of(name)
        self.project = load_project(self.tasks)
        place = place_of(self.project, self.tasks)
        self.path, self.starter = ROOT / "solutions" / "projects" / place, ROOT / "projects" / place
        self.text = self.path.read_text()
        # another one whenever anything here changes: what tests draw moves with it
        both = self.text + self.tasks.read_text()
        self.digest = hashlib.sha256(both.encode()).hexdigest()[:8]
        # each task's points, as the starter says them
        self.points = {task: int(points) for task, _, points in TASK.findall(self.text)}

    def changed(self, *pairs):
        """The text with a different one in places; what replaces nothing comes at its end."""
        text = self.text
        for right, other in pairs:
            if right:
                assert text.count(right) == 1, f"{right} is there {text.count(right)} times"
                text = text.replace(right, other)
            else:
                text += f"\n\n{other}\n"
        return text

    def rows(self, text, seed="0", tasks=None):
        """What becomes of each check, or of those of some tasks."""
        return rows(self.project, text, seed, tasks)


worked = functools.cache(Worked)


def lost(rows):
    """The points that are lost, task by task."""
    found = {}
    for row in rows:
        found[row.task] = found.get(row.task, 0) + row.of - row.points
    return {task: points for task, points in found.items() if points}


def gained(rows):
    return {row.task: row.points for row in rows if row.points}


def handed_in(project, text, folder):
    """The file in this folder, or the folder, that somebody would hand in with this text."""
    path = folder / (project.path.parent.name if project.project.main else project.path.name)
    if project.project.main:
        shutil.copytree(project.starter.parent, path, ignore=shutil.ignore_patterns("__pycache__"))
        (path / project.project.main).write_text(text)
    else:
        path.write_text(text)
    return path


def printed(text, folder, name):
    """What the program prints, run in this folder as a learner runs it: without SPEC."""
    path = handed_in(worked(name), text, folder)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "SPEC": "0"})  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
