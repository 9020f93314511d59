"""What a learner calls in a notebook: `check_mini(3)`, then `use_mini(3)`."""

from __future__ import annotations

from classroom.exercise import Exercise, Outcome, State
from classroom.learner import record, show
from classroom.mini import loader, stages
from classroom.mini.check import Result, Verdict, listed
from classroom.mini.checking import run
from classroom.mini.helping import exercises
from classroom.mini.here import you_are_here
from classroom.mini.stages import Stage

SIGNS = {"right": "✓", "wrong": "✗", "open": "○", "waits": "○"}


def check_mini(stage: int | str) -> None:
    """Check a stage of your own framework, and remember whether it is done: check_mini(3)."""
    if (found := _find(stage)) is None:
        return
    path = stages.folder_to_check() / found.file
    if not path.is_file():
        show.message("note", "", f"There is no mini/{found.file} here. `python3 start.py update` "
                     "brings it.")  # fmt: skip
        return
    below = {choice.stage.module: choice.path for choice in loader.choose(found)[:-1]}
    verdict = run(found, below | {found.module: path})
    show_verdict(found, verdict, note=_noted(found, verdict))
    if verdict.state == "right":
        strip = you_are_here(found.name, is_built=True)
        show.both(strip.text, strip.html())


def use_mini(stage: int | str, upto: str = "") -> None:
    """Make `mini` importable up to a stage: yours where they pass, else the reference.

    upto: of this stage, only the functions up to this one have to pass: half a stage.
    """
    if (found := _find(stage)) is None:
        return
    choices, has_changed = loader.use(found, upto)
    show.both("\n".join(map(str, choices)).replace("`", ""), "")
    if has_changed:
        show.message("note", "", "A file of mini has changed, so your next import reads it anew. "
                     "Names that you imported before are still the old ones: run those cells "
                     "again.")  # fmt: skip


def show_verdict(stage: Stage, verdict: Verdict, note: str = "") -> None:
    """A line for each check, then each failure by itself."""
    head = f"mini, stage {stage.name}."
    if verdict.trouble:
        show.message("wrong", head, verdict.trouble, verdict.rows, note)
    else:
        show.message(verdict.state, head, summary(verdict), rows_of(verdict), note)
    for result in verdict.failed:
        show.message("wrong", f"{result.of}.", result.text, _case(result))
    if verdict.printed:
        show.message("note", "Your code printed:", verdict.printed.strip())


def rows_of(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """A row for each function, in the order of its first check."""
    by_function: dict[str, list[Result]] = {}
    for result in verdict.results:
        by_function.setdefault(result.of, []).append(result)
    rows = []
    for name, results in by_function.items():
        stuck = next((result for result in results if result.state != "right"), None)
        passed = f"{sum(result.state == 'right' for result in results)} of {len(results)}"
        rows.append((f"{SIGNS[stuck.state if stuck else 'right']} {name}", passed + _words(stuck)))
    return tuple(rows)


def _words(stuck: Result | None) -> str:
    """What there is to say of the first check of a function that does not pass."""
    if stuck is None:
        return ""
    if stuck.state == "wrong":
        return f", not yet: {stuck.promise}"
    if stuck.text:
        return f", waits for {stuck.text}"
    return ", not written yet" if stuck.state == "open" else ""


def summary(verdict: Verdict) -> str:
    count = len(verdict.results)
    if verdict.state == "right":
        return f"All {count} checks pass. {stages.find(verdict.stage).then}".strip()
    said = f"{verdict.passed} of {count} checks pass."
    if verdict.unwritten:
        said += f" Still to write: {listed(verdict.unwritten)}."
    return said


def _case(result: Result) -> tuple[tuple[str, str], ...]:
    """The rows of a failure, without the case where the sentence names it already."""
    return tuple(row for row in result.rows if row[1] not in result.text or row[0] != "case")


def _noted(stage: Stage, verdict: Verdict) -> str:
    """Remember the stage, and each function of it that passes. START is written anew, since there
    may be more written than before."""
    state: State = verdict.state  # type: ignore[assignment]
    entry = Exercise(f"mini {stage.name}", f"mini-{stage.name}", stage.title, lambda _: "", ())
    stuck = {result.of for result in verdict.results if result.state != "right"}
    right = [one for one in exercises(stage) if verdict.results and one.number not in stuck]
    trouble = record.note_done(right)
    return record.note(Outcome(entry, state)) or trouble


def _find(stage: int | str) -> Stage | None:
    try:
        return stages.find(stage)
    except LookupError as error:
        show.message("note", "", str(error))
        return None
