"""Have a stage checked: in a process of its own, and not twice.

A process of its own means that no check needs a restart of the notebook's kernel, that a loop
without an end is stopped, and that memory which runs out is that process's.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from classroom.mini.check import Result, Verdict
from classroom.mini.stages import ROOT, Stage
from classroom.written import place_of, written
from tinyframe.settings import settings

SECONDS_IN_ALL = 120.0


def verdict(stage: Stage, paths: dict[str, Path]) -> Verdict:
    """What the checks of a stage find; remembered by the text of everything that takes part."""
    place = _remembered_at(stage, paths)
    if settings.CACHE and place.exists():
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError):
            return _from_json(json.loads(place.read_text()))
    return run(stage, paths)


def run(stage: Stage, paths: dict[str, Path]) -> Verdict:
    """Run the checks of a stage now. paths: the file of each module of `mini` up to that stage."""
    found = _in_a_process(stage, paths)
    if settings.CACHE and found.state != "wrong":  # a failure may be a slow machine's
        place = _remembered_at(stage, paths)
        with contextlib.suppress(OSError):
            written(place, json.dumps(asdict(found)))
    return found


def _in_a_process(stage: Stage, paths: dict[str, Path]) -> Verdict:
    asked_for = {"stage": stage.name, "paths": {name: str(path) for name, path in paths.items()}}
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    } | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "classroom.mini.judging"],
            input=json.dumps(asked_for),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            timeout=SECONDS_IN_ALL,
        )
        return _from_json(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        trouble = f"The checks were stopped after {SECONDS_IN_ALL:.0f} seconds."
    except (ValueError, TypeError, LookupError):
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        trouble = " ".join(["Python itself stopped while the checks were running.", *last])
    return Verdict(stage.name, trouble=trouble)


def _remembered_at(stage: Stage, paths: dict[str, Path]) -> Path:
    checks = sorted(Path(__file__).parent.rglob("*.py"))
    return place_of("mini", stage.name, [*paths.values(), *checks])


def _from_json(fields: dict[str, Any]) -> Verdict:
    def rows(found: Any) -> tuple[tuple[str, str], ...]:
        return tuple((str(label), str(value)) for label, value in found)

    results = tuple(Result(**{**r, "rows": rows(r["rows"])}) for r in fields["results"])
    more = {
        "results": results, "rows": rows(fields["rows"]), "unwritten": tuple(fields["unwritten"])
    }  # fmt: skip
    return Verdict(**{**fields, **more})
