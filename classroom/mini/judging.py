"""The process that checks a stage, `python -m classroom.mini.judging`: JSON in, JSON out."""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import traceback
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from classroom.exercise import Open, Wrong
from classroom.exercise_file import load
from classroom.limit import OutOfTime, time_limit
from classroom.mini import loader, stages
from classroom.mini.check import SECONDS, Check, Result, Verdict, listed
from classroom.mini.helping import place_of
from classroom.mini.stages import Stage

MEMORY = 6 << 30  # bytes of address space; NumPy alone reserves more than one
MOST_PRINTED = 600  # characters of what the learner's code prints


@cache
def checks_of(stage: Stage) -> list[Check]:
    """The checks of a stage's functions, in the order of these; one that needs another function
    comes after all of that one's."""
    asked = stages.asked(stage)
    found = [
        replace(check, of=name)
        for name in asked
        for check in vars(load(place_of(stage, name))).values() if isinstance(check, Check)
    ]  # fmt: skip

    def place(check: Check) -> tuple[int, bool]:
        last = max(map(asked.index, (check.of, *check.needs)))
        return last, check.of != asked[last]

    return sorted(found, key=place)


def judge_stage(stage: Stage, paths: dict[str, Path], until_wrong: bool = False) -> Verdict:
    """Load the modules and run the checks of the last one, here and now."""
    path = paths[stage.module]
    try:
        still_open = tuple(stages.unwritten(stage, path.read_text()))
        with time_limit(SECONDS):
            modules = loader.load(paths)
    except (Exception, SystemExit, OutOfTime) as error:
        text, rows = told_of(error, path)
        return Verdict(stage.name, trouble=f"{path.name} does not run. {text}", rows=rows)
    return judge_names(stage, names_of(modules), path, still_open, until_wrong)


def names_of(modules: list[Any]) -> SimpleNamespace:
    """Everything that the stages define, under its name."""
    return SimpleNamespace(**{name: x for module in modules for name, x in vars(module).items()})


def judge_names(
    stage: Stage,
    names: Any,
    path: Path,
    still_open: tuple[str, ...] = (),
    until_wrong: bool = False,
) -> Verdict:
    """Run the checks of a stage on what has been loaded. path: the file that is checked.

    until_wrong: the first check that fails is the last one that is run.
    """
    results: list[Result] = []
    failed: set[str] = set()
    for check in checks_of(stage):
        wanted = (check.of, *check.needs)
        missing = [name for name in wanted if name in still_open]
        if blocking := missing + [name for name in wanted if name in failed]:
            state = "open" if missing else "waits"
            on = "" if check.of in blocking else listed(tuple(blocking))
            results.append(Result(check.of, check.promise, state, on))
            continue
        result = judge_check(check, names, path)
        results.append(result)
        if result.state != "right":
            failed.add(check.of)
            if until_wrong:
                break
    return Verdict(stage.name, tuple(results), still_open)


def judge_check(check: Check, names: Any, path: Path) -> Result:
    try:
        with time_limit(check.seconds):
            check.function(names)
        return Result(check.of, check.promise, "right")
    except Wrong as wrong:
        return Result(check.of, check.promise, "wrong", str(wrong), wrong.rows)
    except Open as nothing:
        return Result(check.of, check.promise, "wrong", str(nothing))
    except (Exception, SystemExit, OutOfTime) as error:
        text, rows = told_of(error, path, check.seconds)
        for kind, sentence in check.told:
            if isinstance(error, kind):
                text = sentence
        return Result(check.of, check.promise, "wrong", text, rows)


def told_of(
    error: BaseException, path: Path, seconds: float = SECONDS
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """An error in a sentence, and the line of the file that it came from."""
    words = " ".join(str(error).split())[:300]
    name = type(error).__name__
    text = f"{name}: {words}" if words else f"It raised {name}."
    if isinstance(error, OutOfTime):
        text = f"This was stopped after {seconds:g} seconds. Is there a loop that never ends?"
    if isinstance(error, MemoryError):
        text = "This ran out of memory. Does something grow without an end?"
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        is_known = error.lineno is not None and line  # of a file with a null byte, nothing is
        return f"{name}: {error.msg}", (("line", f"{error.lineno}: `{line}`"),) if is_known else ()
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(path) and frame.line and frame.lineno]
    given = handed_out(path.name)
    written = [frame for frame in own if frame.line not in given]
    where = "your line" if written else "line"
    return text, tuple((where, f"{f.lineno}: `{f.line}`") for f in (written or own)[-1:])


def handed_out(name: str) -> set[str]:
    """The lines of a file of mini as learners get it: these are not theirs."""
    path = stages.HANDED_OUT / name
    return {line.strip() for line in path.read_text().splitlines()} if path.exists() else set()


def main() -> None:
    """Read what is asked for, keep the learner's prints apart, write the verdict."""
    with contextlib.suppress(ValueError, OSError):  # not every system limits this
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked_for = json.load(sys.stdin)
    paths = {name: Path(path) for name, path in asked_for["paths"].items()}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        found = judge_stage(
            stages.find(asked_for["stage"]), paths, asked_for.get("until_wrong", False)
        )
    json.dump(asdict(found) | {"printed": printed.getvalue()[:MOST_PRINTED]}, sys.stdout)


if __name__ == "__main__":
    main()
