"""`python -m classroom record [PROJECT]`: note the judge's answers, for releases.

Students' copies have these and not the functions that work them out (grader/recorded.py). Each
visible check is asked of the worked solution, with the random numbers of each case.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from classroom.grader.command import progress, tidied_up
from classroom.grader.handed_in import files_of
from classroom.grader.judge import TASKS, lines_of, load_project, opened
from classroom.grader.recorded import CASES, known
from classroom.grader.sandbox import Limits, best_protection


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom record",
        description="Note the judge's answers to what visible checks ask, for releases.",
    )
    parser.add_argument("projects", nargs="*", help="their names or numbers; all unless you say so")
    named = parser.parse_args(arguments).projects
    there = sorted(TASKS[0].glob("*.py"))
    for name in named:
        if not any(name in (path.stem, path.stem[:2]) for path in there):
            parser.error(f"no project {name!r} in {', '.join(path.stem for path in there)}")
    for tasks in there:
        if named and not {tasks.stem, tasks.stem[:2]} & {*named}:
            continue
        try:
            found = answers(tasks, range(CASES))
        except KeyboardInterrupt:  # by SIGTERM too
            print(f"record: stopped at {tasks.stem}", file=sys.stderr)
            return 2
        finally:
            progress("")
        text = json.dumps(found, indent=0, sort_keys=True, ensure_ascii=False)
        tasks.with_suffix(".json").write_text(text + "\n")
        print(f"{tasks.stem}: {len(found)} answers")
    return 0


def answers(tasks: Path, cases: Iterable[int]) -> dict[str, Any]:
    """What the functions marked with `answer` gave. RuntimeError where a solution is wrong."""
    project = load_project(tasks)
    name = tasks.stem if project.main else tasks.name
    files = files_of(TASKS[0].parent / name, project.main)
    limits, protection = Limits().longer(100), best_protection()
    visible = [check for check in project.checks if not check.hidden]
    known.clear()
    source = next(iter(files.values()))
    alone = project.is_alone
    with tidied_up(), opened(files, limits, protection, None, alone) as grading:
        for check in visible:
            for case in cases:
                progress(f"{tasks.stem}: {check.task}, case {case}")
                problem, row = grading.judge(check, case, lines_of(source))
                if problem or not row.passed:
                    raise RuntimeError(f"{check.task}, {check.shows}: {problem or row.found}")
    return json.loads(json.dumps(known))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
