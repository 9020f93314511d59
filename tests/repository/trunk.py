"""The trunk: the files that one expression passes through, from the Tensor to its result.

    python -m tests.repository.trunk          files in reading order, and functions in each

The expression is `(a * b + 1).sum().realize()` on the CPU. Its inputs are realized, imports are
warm, the kernel is cold: nothing of it is known, in memory or on disk. A file's place is that of
the first function of it that is called. Lambdas count, for rules are often lambdas;
comprehensions do not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tinyframe"
NO_FUNCTIONS = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<module>"}


def passed() -> Counter[str]:
    """The files, in order, each with the number of its functions that are called. It is traced in
    a process of its own, where nothing has run before."""
    environment = {n: v for n, v in os.environ.items() if n not in ("DEVICE", "DEBUG", "SPEC")}
    environment |= {"CACHE": "0", "CPU": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.repository.trunk", "--trace"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return Counter(
        {file: int(count) for file, count in map(str.split, done.stdout.strip().split("\n"))}
    )


def trace() -> Counter[str]:
    """The same, of this process."""
    from tinyframe import Tensor

    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    a, b = Tensor(rows).realize(), Tensor(rows).realize()
    (a - b).max().realize()  # what is imported late is imported now
    seen: dict[tuple[str, str, int], None] = {}

    def called(frame, event, argument):
        code = frame.f_code
        path = Path(code.co_filename)
        if event == "call" and code.co_name not in NO_FUNCTIONS and path.is_relative_to(PACKAGE):
            seen[path.relative_to(PACKAGE).as_posix(), code.co_qualname, code.co_firstlineno] = None

    sys.setprofile(called)
    try:
        (a * b + 1).sum().realize()
    finally:
        sys.setprofile(None)
    return Counter(file for file, _, _ in seen)


def table(words: dict[str, str]) -> str:
    """The trunk as a table of Markdown. words: what each file is."""
    found = passed()
    rows = ["| | file | lines | functions | |", "|---|---|---|---|---|"]
    for n, (file, count) in enumerate(found.items(), 1):
        lines = len((PACKAGE / file).read_text().splitlines())
        rows.append(f"| {n} | `{file}` | {lines} | {count} | {words[file]} |")
    return "\n".join([*rows, "", f"{len(found)} files, {found.total()} functions."])


def main() -> None:
    found = trace() if "--trace" in sys.argv else passed()
    for file, count in found.items():
        print(f"{file} {count}")
    if "--trace" not in sys.argv:
        print(f"{len(found)} files, {found.total()} functions")


if __name__ == "__main__":
    main()
