"""The stages of mini: their files, whose files they are, and which functions are the learner's.

    solutions/mini/partN.py     the reference, worked
    mini/partN.py               the learner's version as it is handed out, made by `make course`
    my_course/mini/partN.py     a learner's own

What a learner writes is what the reference marks as a solution, function by function.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from classroom.cut import BEGIN, END
from classroom.learner import record

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "solutions" / "mini"
HANDED_OUT = ROOT / "mini"


@dataclass(frozen=True)
class Stage:
    """One file of mini. name: "3", or "7a" of a part that has several. then: what there is to do
    with it once it passes."""

    name: str
    title: str
    then: str = ""

    @property
    def module(self) -> str:
        return f"mini.part{self.name}"

    @property
    def file(self) -> str:
        return f"part{self.name}.py"

    @property
    def reference(self) -> Path:
        return REFERENCE / self.file


STAGES = (
    Stage(
        "3",
        "Arrays that store nothing",
        "Your framework has room for a table of eight terabytes now, and needs no memory for it. "
        "Ask it for an element nobody has ever computed.",
    ),
    Stage("4", "Lazy Tensors", "For your Tensor, sixty doublings are 61 nodes. Go on and double."),
    Stage(
        "4b",
        "From a graph to kernels",
        "Your framework knows which values deserve memory, and computes the rest on the way. Draw "
        "whatever you like with `draw_kernels`, and see where it comes apart.",
    ),
    Stage(
        "5",
        "Movement, matmul, convolution",
        "Your Tensor multiplies matrices and slides filters over pictures, without an op for "
        "either. Show it a picture.",
    ),
    Stage(
        "6",
        "Gradients and training",
        "Your framework can learn. All it has ever seen is four points, so give it something worth "
        "knowing.",
    ),
    Stage(
        "7a",
        "Rules",
        "Your framework knows that (j*11 + o) % 10 is j + o, and can say why. Give it an index of "
        "your own convolution.",
    ),
    Stage(
        "7b",
        "From a graph to C",
        "Your framework writes C. Have it write your convolution, and read every line.",
    ),
    Stage(
        "8",
        "Two devices",
        "Whatever you built in stages 4 to 6 is machine code now, and it was you who wrote it. "
        "Train the digits once more, and look at the clock.",
    ),
    Stage(
        "7c",
        "Fast loops",
        "You say what becomes of a matmul's loops, and its C is many times as fast. Race NumPy.",
    ),
)


def find(name: int | str) -> Stage:
    """The stage of a part. LookupError, with a sentence for the learner, where there is none."""
    for stage in STAGES:
        if stage.name == str(name):
            return stage
    names = ", ".join(stage.name for stage in STAGES)
    raise LookupError(f"mini has no stage {name}. Its stages are {names}.")


def up_to(last: Stage) -> tuple[Stage, ...]:
    return STAGES[: STAGES.index(last) + 1]


def learners_folder(here: Path | None = None) -> Path | None:
    """The `mini` of the learner's copy that a folder (the working directory) is in, or None."""
    progress = record.place(here)
    return progress.parent / "mini" if progress else None


def folder_to_check() -> Path:
    """The learner's; without one, that of the version of the course which is being run."""
    found = learners_folder()
    if found is None:
        here = Path.cwd().resolve()
        found = REFERENCE if here.is_relative_to(REFERENCE.parent) else HANDED_OUT
    return found


# ---- what is in a file ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A function or a class of a file. name: with its class, `Array.sum`; code: the lines of its
    body that are code; source: all of it without docstring and marks."""

    name: str
    is_written: bool
    code: frozenset[int]
    source: str


def functions(text: str) -> dict[str, Function]:
    """The functions of a file, its classes, and their methods. SyntaxError if it is not Python."""
    lines, code, found = text.splitlines(), code_lines(text), {}
    for name, node in definitions(ast.parse(text).body):
        work = node.body[ast.get_docstring(node) is not None :]
        is_written = not all(isinstance(line, ast.Pass) or _is_ellipsis(line) for line in work)
        body = range(_first_line(work[0]), (node.end_lineno or 0) + 1) if work else range(0)
        head = range(node.lineno, _first_line(node.body[0]))
        shown = [lines[n - 1] for n in (*head, *body) if lines[n - 1].strip() not in (BEGIN, END)]
        source = textwrap.dedent("\n".join(shown)).strip()
        found[name] = Function(name, is_written, frozenset(code.intersection(body)), source)
    return found


def _first_line(node: ast.stmt) -> int:
    """Where it begins: with its decorators."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def definitions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body, f"{node.name}.")


def asked(stage: Stage) -> list[str]:
    """The functions of a stage that the learner writes, and whole classes, in the order of the
    file."""
    text = stage.reference.read_text()
    marks = {n for n, line in enumerate(text.splitlines(), 1) if line.strip() == BEGIN}
    found: list[str] = []
    for name, function in functions(text).items():
        first = min(function.code, default=0)
        if name.rpartition(".")[0] in found:  # the whole class is theirs
            continue
        if any(mark in marks for mark in (first - 1, first - 2)):
            found.append(name)
    return found


def unwritten(stage: Stage, text: str) -> list[str]:
    """The functions that a learner has still to write. SyntaxError if the file is not Python."""
    there = functions(text)
    return [name for name in asked(stage) if name not in there or not there[name].is_written]


def written(stage: Stage, folder: Path) -> tuple[int, int] | None:
    """How many of its functions a learner has written in this folder, and how many there are; None
    if the file is not there or is not Python."""
    try:
        there = functions((folder / stage.file).read_text())
    except (OSError, ValueError, SyntaxError):
        return None
    names = asked(stage)
    return sum(name in there and there[name].is_written for name in names), len(names)


def lines_of(stage: Stage, text: str) -> tuple[int, int]:
    """How many lines of code of a file are the learner's, and how many there are. SyntaxError if
    it is not Python."""
    there = functions(text)
    asked_for = [there[name] for name in asked(stage) if name in there]
    theirs = {line for function in asked_for if function.is_written for line in function.code}
    return len(theirs), len(code_lines(text))


def code_lines(text: str) -> set[int]:
    """The numbers of the lines that are not blank, a comment or a docstring."""
    spoken: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        if ast.get_docstring(node) is not None:
            spoken.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return {
        number
        for number, line in enumerate(text.splitlines(), 1)
        if number not in spoken and line.strip() and not line.strip().startswith("#")
    }


def _is_ellipsis(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and line.value.value is ...
    )
