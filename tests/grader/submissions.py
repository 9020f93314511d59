"""Changes of worked solutions: a mistake that costs points, or what is as good and costs none.

A file of `submissions/` has those of a project. Each begins with the tasks that it is about and the
points that they lose, and what it does:

    === gelu 8: a factor is missing
    ? what the report says of it, with … for whatever stands there
    -a piece of the worked solution, which is there once
    +what is there instead

A piece may have several lines, each with its sign, and there may be several pieces. Lines with a
plus alone come after the file, so that their definitions count. As few files as can be are graded,
with one change at most for each task, but for those that are `alone`: since nothing works with
them, or since somebody solves many tasks in an unusual way (then the worked ones that call these
are named, too).
"""

import re
from pathlib import Path
from typing import NamedTuple

from tests.grader.here import parts_of
from tests.grader.worked import lost

FOLDER = Path(__file__).with_name("submissions")
PIECE = re.compile(r"((?:^-.*\n)*)((?:^\+.*\n)*)", re.MULTILINE)


class Change(NamedTuple):
    name: str
    points: dict[str, range]
    told: list[str]
    pieces: list[tuple[str, ...]]

    @property
    def is_alone(self):
        return self.name.startswith("alone ")

    @property
    def is_unusual(self):
        """Whether it is somebody's own way to solve tasks, which is right."""
        return self.is_alone and not any(points[-1] for points in self.points.values())

    @property
    def text(self):
        """What comes after the file."""
        return "\n\n".join(other for _, other in self.pieces)


def read(name, rest):
    """What a file says between one === and the next."""
    points = {
        task: range(int(least), int(most or least) + 1)
        for task, least, most in re.findall(r"(\w+) (\d+)-?(\d*)", name.partition(":")[0])
    }
    pieces = [
        tuple("\n".join(line[1:] for line in lines.splitlines()) for lines in found)
        for found in PIECE.findall(rest)
        if any(found)
    ]
    assert points and pieces, name
    return Change(name, points, re.findall(r"^\? (.+)", rest, re.MULTILINE), pieces)


def changes_of(path):
    return [read(*part) for part in parts_of(path)]


def unusual(number):
    """Unusual solutions of tasks of a project, by what is special in them."""
    (path,) = FOLDER.glob(f"{number}_*.txt")
    return {change.name.partition(": ")[2]: change.text for change in changes_of(path)
            if change.is_unusual}  # fmt: skip


def together(path):
    """Lists of changes that are made in one file, as few as can be."""
    found = []
    for change in changes_of(path):
        for changes in found:
            tasks = {task for other in changes for task in other.points}
            if tasks.isdisjoint(change.points) and not change.is_alone | changes[0].is_alone:
                changes.append(change)
                break
        else:
            found.append([change])
    return found


def expect_its_points(of, changes):
    """With these changes, their tasks lose their points, and the report says why."""
    points = {task: allowed for change in changes for task, allowed in change.points.items()}
    text = of.changed(*(piece for change in changes for piece in change.pieces))
    judged = of.rows(text, tasks=points.keys())
    found = {task: [row.found for row in judged if row.task == task] for task in points}
    costs = dict.fromkeys(points, 0) | lost(judged)
    assert all(costs[task] in allowed for task, allowed in points.items()), (costs, found)
    assert all(row.found and row.hint for row in judged if not row.passed)
    for change in changes:
        text = "\n".join(words for task in change.points for words in found[task])
        for told in change.told:
            end = "$" if "parts right: " in told else ""  # no more parts than these
            words = re.escape(told).replace("…", ".*") + end
            assert re.search(words, text, re.MULTILINE), (change.name, text)
