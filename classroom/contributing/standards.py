"""What a reviewer looks at before reading: a change, held against the habits of two houses.

tinygrad's are those that this course's outline lists for contributions; ours are in
CONTRIBUTING.md. Everything here is counted in the copy, nothing is judged.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from classroom.ask import count
from classroom.contributing.pictures import answered
from classroom.contributing.scratch import Clone
from classroom.exercise import Wrong

WIDTH = 100


def standards(clone: Clone) -> None:
    """Print a line for each standard: whose it is, and what a copy's change has of it."""
    files, new, gone = clone.size()
    if not files:
        print("Nothing has changed yet.")
        return
    results = _results(clone)
    failed = [result["name"] for result in results if result["error"]]
    code = [path for path in clone.changed() if not path.startswith("tests/")]
    wide = [line for line in _added(clone) if len(line) > WIDTH]
    rows = [
        ("both", "as small as it can be", f"{new} lines more, {gone} less"),
        ("both", "no new dependencies", ", ".join(_packages(clone)) or "none"),
        ("both", "a feature has tests", count(len(results), "test")),
        ("both", "all tests pass", f"no: {', '.join(failed)}" if failed else "these do"),
        ("ours", "public methods say what they give", _documented(clone, code)),
        ("ours", f"at most {WIDTH} columns", f"{len(wide)} are longer" if wide else "yes"),
        ("tinygrad", "few comments", f"{_comments(clone)} of them"),
        ("tinygrad", "no types inside of functions", f"{_annotations(clone, code)} of them"),
    ]
    for whose, standard, found in rows:
        print(f"{whose:9} {standard:35} {found}")


def everywhere(clone: Clone) -> None:
    """Print what a row of conformance would say of a copy's sinc: on this CPU, beside the
    interpreter, for each dtype of floats."""
    found = answered(clone, "devices")
    if found is None:
        return
    if not found:
        print("Tensor has no sinc yet.")
    for dtype, result in found.items():
        print(f"{dtype:9} {result['mark']}")
        if result["story"]:
            print(result["story"])


def _results(clone: Clone) -> list[dict]:
    files = [path for path in clone.changed() if path.startswith("tests/")]
    try:
        return [r for found in clone.job(tests=files).get("tests", []) for r in found]
    except Wrong as wrong:
        return [{"name": str(wrong), "error": "it doesn't start"}]


def _added(clone: Clone) -> list[str]:
    lines = clone.diff().lines
    return [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]


def _packages(clone: Clone) -> list[str]:
    """What the change imports that tinyframe doesn't need already."""
    found = set()
    for path in clone.changed():
        for node in ast.walk(ast.parse(clone.text(path))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return sorted(found - sys.stdlib_module_names - {"tinyframe", "numpy", "tests"})


def _functions(clone: Clone, paths: list[str]) -> Iterator[ast.FunctionDef]:
    """Those that are new or different in these files."""
    for path in paths:
        before = {ast.dump(node) for node in ast.walk(ast.parse(clone.before(path)))
                  if isinstance(node, ast.FunctionDef)}  # fmt: skip
        for node in ast.walk(ast.parse(clone.text(path))):
            if isinstance(node, ast.FunctionDef) and ast.dump(node) not in before:
                yield node


def _documented(clone: Clone, paths: list[str]) -> str:
    public = [node for node in _functions(clone, paths) if not node.name.startswith("_")]
    bare = [node.name for node in public if not ast.get_docstring(node)]
    return f"not {', '.join(bare)}" if bare else "yes"


def _comments(clone: Clone) -> str:
    count = sum(line.strip().startswith("#") or "  # " in line for line in _added(clone))
    return str(count or "none")


def _annotations(clone: Clone, paths: list[str]) -> str:
    inside = (part for node in _functions(clone, paths) for part in ast.walk(node))
    return str(sum(isinstance(part, ast.AnnAssign) for part in inside) or "none")
