"""Do worked solutions always get full marks? One after the other, and side by side.

python -m tests.grader.repeat 01_tensor_basics --runs 30
python -m tests.grader.repeat 01_tensor_basics --runs 30 --beside 4
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", choices=PROJECTS)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--beside", type=int, default=1)
    told = parser.parse_args()
    scores: Counter[int] = Counter()
    for number in range(told.runs):
        for score, found in graded_side_by_side(*[told.project] * told.beside):
            scores[score] += 1
            print(number, score, *found, flush=True)
    print(dict(scores))
    return 0 if set(scores) == {100} else 1


if __name__ == "__main__":
    sys.exit(main())
