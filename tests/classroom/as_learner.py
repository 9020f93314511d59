"""Runs a worked notebook, holds what it prints against what it stores, and says what each answer
was told in it, as a learner's cell.

    told, differs = run(notebook, [Answer("5.1-a", "4.3", "lambda tensor, op: 3"), …])
    told["5.1-a"]     # Told(verdict="wrong", text="…")
    differs           # a sentence for each cell that prints something else

One process for a notebook: its cells run from the top, once, in a shell of IPython. After each
exercise's cell, every answer to it gets a copy of the process (a fork): none sees what another one
did, and what the worked answer had compiled and worked out is there for all. (That notebooks do the
same in Jupyter is tried with the learners', by nbval.)

`python -m tests.classroom.as_learner` is that process: JSON in, a line of JSON for each answer, and
for each cell that differs.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from classroom.build import NOT_COMPARED, WIDGET_VIEW, clean_environment, sanitized

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "solutions" / "course"
# the line of a cell that has an answer judged: check("4.3", count_nodes)
ASKS = re.compile(r'^(?:check|predict|puzzle)\("([\w.]+)", *(.+)\)$', re.MULTILINE)
DIFFERS = "differs"
INLINE = "module://matplotlib_inline.backend_inline"  # where Jupyter draws
NOT_COMPARED_KINDS = ("image/", WIDGET_VIEW)
SECONDS = 120  # of processor time, for an answer that never gets as far as to be judged


class Answer(NamedTuple):
    """An answer. asked: the number of the exercise, or the name of the puzzle."""

    key: str
    asked: str
    source: str


class Told(NamedTuple):
    """What an answer was told. verdict: "right", "wrong", "asked again", or "failed" if the cell
    itself raised an error before anything was judged."""

    verdict: str
    text: str


def run(notebook: Path, answers: list[Answer]) -> tuple[dict[str, Told], list[str]]:
    """What each answer is told, by its key, and which cells print something else than is stored.
    RuntimeError if a cell fails."""
    asked = json.dumps({"notebook": str(notebook), "answers": answers})
    apart = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MPLBACKEND": INLINE}
    done = subprocess.run(
        [sys.executable, "-m", "tests.classroom.as_learner"], input=asked, cwd=notebook.parent,
        env=clean_environment() | apart, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{notebook.name}: {done.stderr.strip()[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    told = {key: Told(verdict, text) for key, verdict, text in rows if verdict != DIFFERS}
    return told, [f"cell {key}: {text}" for key, verdict, text in rows if verdict == DIFFERS]


# ---- in that process -----------------------------------------------------------------------------


def as_cell(cell: str, answer: Answer) -> str:
    """What the learner's cell is with this answer in it.

    Its statements stand in place of what the cell has, before the line that has the answer judged;
    if the last one is an expression, that is the answer.
    """
    line = next(found for found in ASKS.finditer(cell) if found[1] == answer.asked)
    *_, last = ast.parse(answer.source).body
    if not isinstance(last, ast.Expr):
        return f"{answer.source.rstrip()}\n\n\n{line[0]}"
    lines = answer.source.splitlines()
    before, own = lines[: last.lineno - 1], lines[last.lineno - 1 :]
    call = line[0].partition("(")[0]
    return "\n".join([*before, f'{call}("{answer.asked}", (', *own, "))"])


def answered(notebook: Path, answers: list[Answer]) -> Iterator[tuple[str, str, str]]:
    """(key, verdict, text) of each answer; (id, DIFFERS, how) of each cell that prints something
    else than is stored."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=settings)
    shell.kernel = "none, but what looks for one shows what it shows in Jupyter"
    asked = {answer.asked for answer in answers}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        result, outputs = quietly(shell, source)
        result.raise_error()
        if how := difference(cell, outputs):
            yield cell["id"], DIFFERS, how
        here = {found[1] for found in ASKS.finditer(source)} & asked
        for answer in answers:
            if answer.asked in here:
                yield answer.key, *in_a_copy(shell, as_cell(source, answer))
        asked -= here
    if asked:
        raise LookupError(f"{notebook.name} doesn't ask {', '.join(sorted(asked))}")


def difference(cell: dict[str, Any], outputs: list[dict[str, Any]]) -> str:
    """The first difference between what a cell stores and these outputs, as nbval compares them:
    kind by kind, sanitized, pictures aside; "" where there is none."""
    if NOT_COMPARED in cell["metadata"].get("tags", ()):
        return ""
    stored, printed = shown(cell["outputs"]), shown(outputs)
    for kind in sorted(stored.keys() | printed.keys()):
        if stored.get(kind) != printed.get(kind):
            return f"{kind} is {printed.get(kind)!r:.2000}, stored is {stored.get(kind)!r:.2000}"
    return ""


def shown(outputs: list[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for output in outputs:
        data = output["data"] if "data" in output else {output["name"]: output["text"]}
        for kind, text in data.items():
            if not kind.startswith(NOT_COMPARED_KINDS):
                found.setdefault(kind, []).append("".join(text))
    for name in {"stdout", "stderr"} & found.keys():
        found[name] = ["".join(found[name])]
    return {kind: [sanitized(text) for text in texts] for kind, texts in found.items()}


def in_a_copy(shell: Any, cell: str) -> tuple[str, str]:
    """(verdict, text) of a cell that is run in a fork of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        try:
            said = json.dumps(judged(shell, cell))
        except BaseException as error:  # it must not go on as a second parent
            said = json.dumps(("failed", repr(error)))
        os.write(write, said.encode()[:60_000])  # what a pipe holds
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        if not select.select([pipe], [], [], 2 * SECONDS)[0]:  # it waits for what never comes
            os.kill(child, signal.SIGKILL)
        said = pipe.read().decode()
    os.waitpid(child, 0)
    verdict, text = json.loads(said) if said else ("failed", "the process ended, or was ended")
    return verdict, text


def judged(shell: Any, cell: str) -> tuple[str, str]:
    """Run a cell with the judge overheard."""
    from classroom.learner import notebook
    from classroom.puzzlebook import play
    from tests.classroom.raised import tell_where

    tell_where()
    outcomes = []

    def overheard(judge: Any) -> Any:
        def listening(exercise: Any, answer: Any) -> Any:
            outcomes.append(judge(exercise, answer))
            return outcomes[-1]

        return listening

    for module in (notebook, play):
        module.judge = overheard(module.judge)  # type: ignore[attr-defined]
    result, _ = quietly(shell, cell)
    error = result.error_before_exec or result.error_in_exec
    if not outcomes:
        return "failed", f"{type(error).__name__}: {error}"
    last = outcomes[-1]
    words = [last.text, *[f"{label} {value}" for label, value in last.rows]]
    return {"open": "asked again"}.get(last.state, last.state), " ".join(filter(None, words))


def quietly(shell: Any, cell: str) -> tuple[Any, list[dict[str, Any]]]:
    """Run a cell. Returns what became of it, and its outputs, as a notebook stores them."""
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        hook = CapturingDisplayHook(shell, captured._outputs)
        shell.display_trap.hook = hook  # what a cell's last line is worth is shown among the rest
        result = shell.run_cell(cell)
    streams = {"stdout": captured.stdout, "stderr": captured.stderr}
    printed = [{"name": name, "text": text} for name, text in streams.items() if text]
    return result, printed + captured._outputs


def main() -> None:
    asked = json.load(sys.stdin)
    out = os.dup(1)  # a copy of the process must not print into the answer
    os.dup2(2, 1)
    with os.fdopen(out, "w") as lines:
        answers = [Answer(*answer) for answer in asked["answers"]]
        for row in answered(Path(asked["notebook"]), answers):
            print(json.dumps(row), file=lines, flush=True)


if __name__ == "__main__":
    main()
