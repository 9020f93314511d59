"""Runs answers as a learner's cells, in the worked notebook, and says what each was told.

    told = run(notebook, [Answer("5.1-a", "4.3", "lambda tensor, op: 3"), …])
    told["5.1-a"]     # Told(verdict="wrong", text="…")

One process for a notebook: its cells run from the top in a shell of IPython, up to the last
exercise that is asked about. A cell is left out if it makes nothing that an answer, or an
exercise's cell, could use. After each exercise's cell, every answer to it gets a copy of the
process (a fork): none sees what another one did, and what the worked answer had compiled and worked
out is there for all.

`python -m tests.classroom.as_learner` is that process: JSON in, a line of JSON for each answer.
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
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from classroom.build import clean_environment

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "solutions" / "course"
# the line of a cell that has an answer judged: check("4.3", count_nodes)
ASKS = re.compile(r'^(?:check|predict|puzzle)\("([\w.]+)", *(.+)\)$', re.MULTILINE)
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


def code_cells(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run(notebook: Path, answers: list[Answer]) -> dict[str, Told]:
    """What each answer is told, by its key. RuntimeError if a cell of the notebook itself fails."""
    asked = json.dumps({"notebook": str(notebook), "answers": answers})
    done = subprocess.run(
        [sys.executable, "-m", "tests.classroom.as_learner"], input=asked, cwd=notebook.parent,
        env=clean_environment() | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{notebook.name}: {done.stderr.strip()[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {key: Told(verdict, text) for key, verdict, text in rows}


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
    """(key, verdict, text) of each answer."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=settings)
    waiting = {answer.asked for answer in answers}
    for cell in needed(code_cells(notebook), answers):
        if not waiting:
            return
        quietly(shell, cell).raise_error()
        here = {found[1] for found in ASKS.finditer(cell)} & waiting
        for answer in answers:
            if answer.asked in here:
                yield answer.key, *in_a_copy(shell, as_cell(cell, answer))
        waiting -= here
    if waiting:
        raise LookupError(f"{notebook.name} doesn't ask {', '.join(sorted(waiting))}")


def needed(cells: list[str], answers: list[Answer]) -> list[str]:
    """The cells that ask, and those that make what they use, or what those use; the first cell too,
    which is settings and imports."""
    asked, kept = {answer.asked for answer in answers}, []
    wanted = {name for answer in answers for name in names_in(answer.source)[1]}
    for place, cell in reversed([*enumerate(cells)]):
        made, used = names_in(cell)
        asks = any(found[1] in asked for found in ASKS.finditer(cell))
        if asks or place == 0 or made & wanted:
            kept.append(cell)
            wanted |= used
    return kept[::-1]


def names_in(source: str) -> tuple[set[str], set[str]]:
    """(names that a cell makes or changes, names that it uses). `x[0] = …` and `x.n = …` change
    `x`, and so may a line that is just `x.add(…)`, but for a picture's `plt.show()`."""
    tree = ast.parse(re.sub(r"(?m)^%.*$", "", textwrap.dedent(source).strip()))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            made |= {(name.asname or name.name).partition(".")[0] for name in node.names}
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            made |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            of = node.value.func
            made |= {n.id for n in ast.walk(of) if n is not of and isinstance(n, ast.Name)}
    made.discard("plt")
    return made, {node.id for node in names if isinstance(node.ctx, ast.Load)}


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
    result = quietly(shell, cell)
    error = result.error_before_exec or result.error_in_exec
    if not outcomes:
        return "failed", f"{type(error).__name__}: {error}"
    last = outcomes[-1]
    words = [last.text, *[f"{label} {value}" for label, value in last.rows]]
    return {"open": "asked again"}.get(last.state, last.state), " ".join(filter(None, words))


def quietly(shell: Any, cell: str) -> Any:
    """Run a cell; nothing that it prints or draws is of interest here."""
    from IPython.utils.capture import capture_output

    with capture_output():
        return shell.run_cell(cell)


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
