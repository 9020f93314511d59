"""Mistakes, planted in the reference: what somebody could write instead of a solution."""

from __future__ import annotations

import textwrap
from pathlib import Path

from classroom.cut import BEGIN, END
from classroom.mini.stages import Stage, up_to


def with_body(text: str, function: str, body: str) -> str:
    """The text of a stage in which the solution of one function is a different one."""
    *owner, name = function.split(".")
    start = text.index(f"class {owner[0]}") if owner else 0
    start = text.index(f"def {name}(", start)
    begin = text.index(BEGIN, start)
    end = text.index(END, begin)
    margin = text[text.rindex("\n", 0, begin) + 1 : begin]
    planted = textwrap.indent(textwrap.dedent(body).strip(), margin)
    return text[:begin] + BEGIN + "\n" + planted + "\n" + margin + text[end:]


def paths_with(stage: Stage, file: Path) -> dict[str, Path]:
    """The reference of the stages below, and a file of its own for this one."""
    paths = {one.module: one.reference for one in up_to(stage)}
    return paths | {stage.module: file}


def changed(stage: Stage, function: str, *changes: tuple[str, str]) -> str:
    """The reference's solution of a function, with some of its text exchanged."""
    text = stage.reference.read_text()
    *owner, name = function.split(".")
    start = text.index(f"class {owner[0]}") if owner else 0
    begin = text.index(BEGIN, text.index(f"def {name}(", start)) + len(BEGIN)
    body = textwrap.dedent(text[begin : text.index(END, begin)].rpartition("\n")[0])
    for old, new in changes:
        assert old in body, (function, old)
        body = body.replace(old, new)
    return body
