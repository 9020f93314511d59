"""Do worked solutions always get full marks? One after the other, and side by side; and whatever is
drawn, which takes no sandbox.

python -m tests.grader.repeat 01_tensor_basics --runs 30
python -m tests.grader.repeat 01_tensor_basics --runs 30 --beside 4
python -m tests.grader.repeat 06_custom_ops --seeds 300
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKED = ROOT / "solutions" / "projects"
PATHS = {path.stem: path for path in WORKED.iterdir() if path.stem[:1].isdecimal()}
PROJECTS = sorted(PATHS)


def graded_side_by_side(*projects: str) -> list[tuple[int, list[str]]]:
    """(score, what was found wrong) of each grader, all started at once."""
    command = [sys.executable, "-m", "classroom", "grade", "--json"]
    graders = [
        subprocess.Popen(
            [*command, str(PATHS[project])],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        for project in projects
    ]  # fmt: skip
    reports = [json.loads(grader.communicate()[0]) for grader in graders]
    return [(r["score"], [row["found"] for row in r["rows"] if row["found"]]) for r in reports]


def graded_here(project: str, seeds: int) -> Iterator[tuple[int, list[str]]]:
    """The same, graded in this process with one seed after the other."""
    from tests.grader.worked import worked

    of = worked(project)
    with tempfile.TemporaryDirectory() as folder:  # some projects write files
        os.chdir(folder)
        for seed in range(seeds):
            rows = of.rows(of.text, f"{of.digest} {seed}")
            yield sum(row.points for row in rows), [row.found for row in rows if row.found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", choices=PROJECTS)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--beside", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=0)
    told = parser.parse_args()
    scores: Counter[int] = Counter()
    rounds = (graded_side_by_side(*[told.project] * told.beside) for _ in range(told.runs))
    if told.seeds:
        rounds = ([each] for each in graded_here(told.project, told.seeds))
    for number, graders in enumerate(rounds):
        for score, found in graders:
            scores[score] += 1
            if found or not told.seeds:
                print(number, score, *found, flush=True)
    print(dict(scores))
    return 0 if set(scores) == {100} else 1


if __name__ == "__main__":
    sys.exit(main())
