"""Judges many files of a stage: a process starts and imports once, and each file gets a copy of it.

JSON in, JSON out, as classroom.mini.judging, which does the same for one. The first check that
fails decides, and those after it are not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from classroom.mini import judging, stages
from classroom.mini.check import Verdict
from classroom.mini.checking import ROOT, _from_json
from classroom.mini.stages import Stage
from tests.classroom.raised import tell_where


def verdicts(stage: Stage, files: list[dict[str, Path]]) -> list[Verdict]:
    """What the checks of a stage find in each of these sets of files."""
    asked = [
        {
            "stage": stage.name,
            "paths": {name: str(path) for name, path in paths.items()},
            "until_wrong": True,
        }
        for paths in files
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.mini.judged"], input=json.dumps(asked), cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1",
             "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [_from_json(json.loads(line)) for line in done.stdout.splitlines()]


def main() -> None:
    asked = json.load(sys.stdin)
    judging.checks_of(stages.find(asked[0]["stage"]))  # imported once
    tell_where()
    for one in asked:
        child = os.fork()
        if child == 0:
            judge(one)
        assert os.waitpid(child, 0)[1] == 0, one


def judge(one: dict) -> None:
    sys.stdin.close()
    read, write = os.pipe()
    os.write(write, json.dumps(one).encode())
    os.close(write)
    sys.stdin = os.fdopen(read)
    judging.main()
    print(flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
