"""A scratch copy of tinyframe, in a temporary folder, in which anything may be changed.

    clone = Clone()
    clone.put(test_sinc, "tests/ops/test_sinc.py")
    clone.put(sinc, "tinyframe/tensor/more/special.py")
    print(clone.diff())
    clone.commit("Tensor has sinc")

The copy goes when Python ends. With git it is a repository (its folder is `clone.folder`), so that
`git diff` says there what `clone.diff()` says here. Nothing needs git: what has changed is found by
comparing the copy with the tinyframe that is imported, which nothing here touches. `put` takes
functions by their source, as they stand in a cell, since a change of a framework is a text.
"""

from __future__ import annotations

import ast
import atexit
import difflib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import tinyframe
from classroom.ask import count, describe, does_nothing
from classroom.cut import without_marks
from classroom.exercise import Open, Wrong
from classroom.pages import filled

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL = Path(tinyframe.__file__).resolve().parent
TESTS = "tests/ops/test_sinc.py"
SPECIAL = "tinyframe/tensor/more/special.py"
# what a new file imports, where its text has the name: in the order that ruff asks for
IMPORTS = (
    (("math", "import math"),),
    (("np", "import numpy as np"), ("pytest", "import pytest")),
)
OURS = ("Tensor", "dtypes")  # from tinyframe
SECONDS = 120.0  # that a job may take
CONTEXT = 2  # lines around a change
# who commits to a copy that will be gone; nothing is signed
NOBODY = ("-c", "user.name=you", "-c", "user.email=", "-c", "commit.gpgsign=false")


class Text:
    """Lines that a notebook shows in colour, and print() without."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": filled("diff.html", lines=self.lines)}


# ---- a function as a text ------------------------------------------------------------------------


def source_of(function: Any) -> str:
    """A function's source as it stands in its cell, decorators included and marks not."""
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        raise Wrong(
            "The answer has to be a function that you wrote with `def`: its text goes into a file.",
            got=describe(function),
        )
    try:
        text = "".join(inspect.getsourcelines(inspect.unwrap(function))[0])
    except (OSError, TypeError):
        raise Wrong("The text of that function can't be found. Run its cell again.") from None
    return without_marks(textwrap.dedent(text)).strip("\n") + "\n"


def functions_of(answer: Any) -> list[Any]:
    """The functions of an answer: one, or several in a list. Open where the last does nothing."""
    found = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    for function in found:
        source_of(function)
    if not found or does_nothing(inspect.unwrap(found[-1])):
        raise Open
    return found


def inserted(text: str, source: str) -> str:
    """A file's text with a function in it: in the place of the one of its name, else at the end of
    its last class where it has a `self`, else in front of that class, else at the end."""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    arguments = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    last = next((node for node in reversed(tree.body) if isinstance(node, ast.ClassDef)), None)
    room: ast.Module | ast.ClassDef = tree
    if last is not None and arguments[:1] == ["self"]:
        room, source = last, textwrap.indent(source, "    ")
    here = [n for n in room.body if isinstance(n, ast.FunctionDef) and n.name == function.name]
    if here:
        start, end = _first_line(here[0]), here[0].end_lineno or 0
        return "".join([*lines[: start - 1], source, *lines[end:]])
    if room is last and last is not None:
        at, before, after = last.end_lineno or 0, "\n", ""
    elif last is not None:
        at, before, after = _first_line(last) - 1, "", "\n\n"
    else:
        at, before, after = len(lines), "\n\n", ""
    return "".join([*lines[:at], before, source, after, *lines[at:]])


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


# ---- the copy ------------------------------------------------------------------------------------


class Clone:
    """A copy of tinyframe to change."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tinyframe-clone-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        # compiled modules too: then it starts faster
        shutil.copytree(ORIGINAL, self.folder / "tinyframe")
        (self.folder / ".gitignore").write_text("__pycache__/\n.answer.json\n")
        self._git("init", "--quiet")
        self._commit("tinyframe as it is")

    def __repr__(self) -> str:
        return f"a copy of tinyframe; {count(len([*self.changed()]), 'file')} changed"

    # ---- changing it -----------------------------------------------------------------------------

    def put(self, functions: Any, path: str) -> None:
        """Write a function, or several, into a file of the copy, each in the place of the one of
        its name, if there is one. Says what it did."""
        try:
            found = functions_of(functions)
        except Open:
            print("Nothing to write yet: the function is still empty.")
            return
        except Wrong as wrong:
            print(wrong)
            return
        for function in found:
            self.write(path, source_of(function))
            lines = len(source_of(function).splitlines())
            print(f"{path}: {function.__name__}, {lines} lines")

    def write(self, path: str, source: str) -> None:
        """Write the text of one function into a file, which is made where it isn't there."""
        text = self.text(path)
        if not self.before(path):  # its imports are made anew, for what stands in it now
            old = ast.parse(text).body if text else []
            kept = [node for node in old if isinstance(node, ast.FunctionDef)]
            text = "".join(f"\n\n{_segment(text, node)}" for node in kept)
            text = inserted(text, source)
            text = f"{_head(path, text)}\n\n{text.lstrip()}"
        else:
            text = inserted(text, source)
        self.save(path, text)

    def text(self, path: str) -> str:
        """What a file of the copy says; nothing where there is none."""
        with suppress(FileNotFoundError):
            return (self.folder / path).read_text(encoding="utf-8")
        return ""

    def save(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        # a compiled module is known by its source's size and second, and may be of this second
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            compiled.unlink()

    def undo(self) -> None:
        """Everything as it was."""
        for path in [*self.changed()]:
            original = ORIGINAL.parent / path
            if original.is_file():
                self.save(path, original.read_text(encoding="utf-8"))
            else:
                (self.folder / path).unlink()

    # ---- what has changed ------------------------------------------------------------------------

    def changed(self) -> Iterator[str]:
        """The files that differ from tinyframe's, or that it doesn't have."""
        for file in sorted(self.folder.rglob("*.py")):
            path = file.relative_to(self.folder)
            original = ORIGINAL.parent / path
            shipped = path.parts[0] == "tinyframe" and original.is_file()
            if not shipped or original.read_bytes() != file.read_bytes():
                yield path.as_posix()

    def before(self, path: str) -> str:
        """What a file said before; nothing where it's new."""
        original = ORIGINAL.parent / path
        there = path.startswith("tinyframe/") and original.is_file()
        return original.read_text(encoding="utf-8") if there else ""

    def diff(self, only: str = "") -> Text:
        """What has changed, as you'd send it: with a `+` each line that is new, with a `-` each
        that is gone. only: of files with this in their path."""
        lines: list[str] = []
        for path in self.changed():
            if only not in path:
                continue
            old, new = (side.splitlines() for side in (self.before(path), self.text(path)))
            rows = [*difflib.unified_diff(old, new, n=CONTEXT, lineterm="")][2:]
            lines += [f"+++ {path}{' (new)' * (not old)}"]
            lines += ["@@" if row.startswith("@@") else row for row in rows]
        return Text(lines or ["No difference."])

    def size(self) -> tuple[int, int, int]:
        """Files that changed, lines that are new, lines that are gone."""
        lines = [line for line in self.diff().lines if not line.startswith("+++")]
        kinds = [line[:1] for line in lines]
        return len([*self.changed()]), kinds.count("+"), kinds.count("-")

    # ---- running it ------------------------------------------------------------------------------

    def job(self, **wanted: Any) -> Any:
        """What `job.py` answers, run on the code of the copy in a process of its own. Wrong, with
        the error, where it doesn't even start; or after SECONDS."""
        paths = [str(self.folder), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        # not -m: `classroom` then takes the folder that it is started in off the path
        start = "import sys; from classroom.contributing.job import main; main(sys.argv[1])"
        command = [sys.executable, "-c", start, str(self._answer)]
        try:
            done = subprocess.run(command, cwd=self.folder, env=environment, text=True, check=False,
                                  input=json.dumps(wanted), capture_output=True,
                                  timeout=SECONDS)  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Wrong(
                f"Stopped after {SECONDS:g} seconds. Is there a loop that never ends?"
            ) from None
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise Wrong(
                "With your change, tinyframe can't even be imported.", got=(said or ["nothing"])[-1]
            )
        return json.loads(self._answer.read_text())

    @property
    def _answer(self) -> Path:
        return self.folder / ".answer.json"

    def run_tests(self) -> None:
        """Run the tests that were put into the copy, and say what came of each."""
        files = [path for path in self.changed() if path.startswith("tests/")]
        if not files:
            print("There are no tests yet.")
            return
        try:
            results = [result for found in self.job(tests=files)["tests"] for result in found]
        except Wrong as wrong:
            print("\n".join([str(wrong), *(value for _, value in wrong.rows)]))
            return
        for result in results:
            print(f"{'FAILED' if result['error'] else 'passed'}  {result['name']}")
            if result["error"]:
                print(f"        {result['line']}\n        {result['error']}: {result['text']}")

    # ---- git -------------------------------------------------------------------------------------

    @cached_property
    def has_git(self) -> bool:
        return shutil.which("git") is not None

    def _git(self, *arguments: str) -> None:
        """Whatever goes wrong with git, the lesson goes on without it."""
        if self.has_git:
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True,
                               check=False, timeout=SECONDS)  # fmt: skip

    def _commit(self, message: str) -> None:
        self._git("add", "--all")
        self._git(*NOBODY, "commit", "--quiet", "--no-verify", "--message", message)

    def commit(self, message: str) -> None:
        """Record what has changed, with a message. Without git, nothing is but said."""
        files, new, gone = self.size()
        if not files:
            print("There is nothing to commit yet.")
            return
        self._commit(message)
        print(message.splitlines()[0])
        print(f"  {count(files, 'file')}, {new} lines more, {gone} lines less")


def _segment(text: str, node: ast.FunctionDef) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[_first_line(node) - 1 : node.end_lineno])


def _head(path: str, text: str) -> str:
    """How a new file begins: what it's about, and the imports that its functions need."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    subject = Path(path).stem.removeprefix("test_").replace("_", " ")
    parts = [f'"""{subject} agrees with NumPy."""', "from __future__ import annotations"]
    for group in IMPORTS:
        parts.append("\n".join(line for name, line in group if name in used))
    names = ", ".join(name for name in OURS if name in used)
    parts.append(f"from tinyframe import {names}" if names else "")
    return "\n\n".join(filter(None, parts)) + "\n"


# ---- a bench for checks --------------------------------------------------------------------------


def judged(sources: Sequence[tuple[str, Callable[..., Any]]], **wanted: Any) -> Any:
    """What a job says of a fresh copy into which these (path, function) were put. One copy serves
    all checks of a session."""
    bench = _bench()
    bench.undo()
    for path, function in sources:
        bench.write(path, source_of(function))
    return bench.job(**wanted)


def _bench() -> Clone:
    if not _benches:
        _benches.append(Clone())
    return _benches[0]


_benches: list[Clone] = []
