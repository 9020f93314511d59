"""Mistakes, planted in the reference: what somebody could write instead of a solution."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from classroom.mini import stages
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


def owner(function: str, asked: list[str]) -> str:
    """What a learner writes that this function is in: itself, or its class."""
    return function if function in asked else function.rpartition(".")[0]


def paths_with(stage: Stage, file: Path) -> dict[str, Path]:
    """The reference of the stages below, and a file of its own for this one."""
    paths = {one.module: one.reference for one in up_to(stage)}
    return paths | {stage.module: file}


def changed(stage: Stage, function: str, *changes: tuple[str, str]) -> str:
    """The reference's solution of a function, with some of its text exchanged."""
    source = stages.functions(stage.reference.read_text())[function].source
    body = textwrap.dedent(source.partition(":\n")[2])
    for old, new in changes:
        assert old in body, (function, old)
        body = body.replace(old, new)
    return body
