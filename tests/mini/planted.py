"""Mistakes, planted in the reference: what somebody could write instead of a solution."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from classroom.mini.stages import Stage, up_to


def with_body(text: str, function: str, body: str) -> str:
    """The text of a stage in which the body of one function, or of a class, is a different one."""
    lines, nodes = text.splitlines(), ast.parse(text).body
    for name in function.split("."):
        (node,) = [n for n in nodes if getattr(n, "name", "") == name]
        nodes = node.body
    first = node.body[ast.get_docstring(node) is not None]
    start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
    margin = " " * first.col_offset
    planted = textwrap.indent(textwrap.dedent(body).strip(), margin).splitlines()
    return "\n".join([*lines[: start - 1], *planted, *lines[node.end_lineno :]]) + "\n"


def with_function(text: str, function: str, source: str) -> str:
    """The text of a stage in which one function is a different one.

    Whatever else the source has comes before it: before its class, if it is a method.
    """
    tree = ast.parse(text)
    owner, _, name = function.rpartition(".")
    outer = _named(tree.body, owner) if owner else None
    old = _named(outer.body if isinstance(outer, ast.ClassDef) else tree.body, name)
    own = textwrap.dedent(source).strip()
    new = _named(ast.parse(own).body, name)
    lines, theirs = text.splitlines(), own.splitlines()
    first, last = _span(new)
    written, beside = theirs[first:last], [*theirs[:first], *theirs[last:]]
    first, last = _span(old)
    lines[first:last] = [f"{' ' * old.col_offset}{line}" for line in written]
    before = _span(outer or old)[0]
    lines[before:before] = beside
    return "\n".join(lines) + "\n"


def _named(body: list[ast.stmt], name: str) -> ast.FunctionDef | ast.ClassDef:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    raise LookupError(f"there is no {name!r}")


def _span(node: ast.FunctionDef | ast.ClassDef) -> tuple[int, int]:
    """Its lines, decorators too, as a slice of all lines."""
    first = min([node.lineno, *[each.lineno for each in node.decorator_list]])
    return first - 1, node.end_lineno or node.lineno


def owner(function: str, asked: list[str]) -> str:
    """What a learner writes that this function is in: itself, or its class."""
    return function if function in asked else function.rpartition(".")[0]


def paths_with(stage: Stage, file: Path) -> dict[str, Path]:
    """The reference of the stages below, and a file of its own for this one."""
    paths = {one.module: one.reference for one in up_to(stage)}
    return paths | {stage.module: file}
