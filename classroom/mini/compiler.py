"""Whether there is a C compiler for mini's stage 8, and what becomes of a notebook without one.

    compiler()      # in a cell near the top

says that there is one, or what to do. Without one, no cell below it is run: each says why, in one
line, until a compiler is there.
"""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from os import environ
from pathlib import Path
from shutil import which
from typing import Any

NAMES, MODULE = ("cc", "gcc", "clang"), "ziglang"
SECONDS = 120.0  # zig compiles a C library of its own before the first program, which takes a while
MISSING = (
    "There is no C compiler here yet, and this part needs one. In the folder of the course, "
    "`python3 start.py` brings one (zig's, some 100 MB), and needs no rights for that; or install "
    "gcc or clang as your system does. Then restart the kernel and begin at the top. Until then, "
    "no cell below does anything."
)
BROKEN = (
    "The C compiler that was found, `{command}`, doesn't compile a file of one line. It says: "
    "{words} If you've set CC, have a look at that. Until a compiler works, no cell below does "
    "anything."
)
SKIPPED = "Nothing happens here without a C compiler. The cell with `compiler()` says what to do."


def compiler() -> list[str]:
    """The command of the C compiler, as mini's `find_compiler` gives it, with a line that says
    whether it works. If it doesn't, the cells below are skipped."""
    if trouble := trouble_with_c():
        _say(trouble)
        _skip_cells()
    else:
        print("There is a C compiler, and it works.")
    return command()


def command() -> list[str]:
    """CC, or what is installed, or the compiler that the package `ziglang` brings."""
    if "CC" in environ:
        return shlex.split(environ["CC"])
    found = next((name for name in NAMES if which(name)), None)
    return [found] if found else [sys.executable, "-m", MODULE, "cc"]


def trouble_with_c() -> str:
    """What is wrong, as a sentence for the learner; "" if a file of one line compiles."""
    return _trouble_with(*command())


def _trouble_with(*words: str) -> str:
    trouble = _tried(*words)
    if trouble:
        _tried.cache_clear()  # it may be there the next time
    return trouble


@cache
def _tried(*words: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        asked = [*words, "-shared", "-fPIC", "-x", "c", "-", "-o", str(Path(folder) / "one.so")]
        try:
            subprocess.run(
                asked, input=b"int one(void) { return 1; }\n", capture_output=True, check=True,
                timeout=SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip()
            if "No module named" in said:
                return MISSING
            last = said.splitlines()[-1] if said else str(error)
            return BROKEN.format(command=" ".join(words), words=f"{last.rstrip('.')}.")
    return ""


def _say(text: str) -> None:
    from classroom.learner import show

    show.message("note", "No C compiler.", text)


class Skipping(ast.NodeTransformer):
    """Puts a line that says why in place of a whole cell, as long as no compiler works."""

    def visit(self, tree: Any) -> Any:
        if not isinstance(tree, ast.Module):
            return tree
        if not trouble_with_c():
            self.leave()
            return tree
        calls = {node.func.id for node in ast.walk(tree)
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
        return tree if "compiler" in calls else ast.parse(f"print({SKIPPED!r})")

    def leave(self) -> None:
        if (shell := _shell()) is not None and self in shell.ast_transformers:
            shell.ast_transformers.remove(self)


def _skip_cells() -> None:
    shell = _shell()
    if shell and not any(isinstance(each, Skipping) for each in shell.ast_transformers):
        shell.ast_transformers.append(Skipping())


def _shell() -> Any:
    from IPython import get_ipython

    return get_ipython()
