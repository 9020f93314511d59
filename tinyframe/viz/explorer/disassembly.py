"""A kernel's machine code as text, x86 or ARM, by objdump: GNU's on Linux, LLVM's on macOS."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

from tinyframe.viz.instructions import meaning

# the section with kernels, under its names on Linux and macOS
KERNELS = re.compile(r"Disassembly of section (\.text|__TEXT,__text):")
INSTRUCTION = re.compile(r"(?P<place>\s*[0-9a-f]+:)\s+(?P<words>\S.*)")
# a jump of x86 or ARM, with its target
JUMP = re.compile(r"(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s+(?:.*,\s*)?(?:0x)?(?P<to>[0-9a-f]+)\b")


def machine_code(binary: bytes) -> dict[str, Any]:
    """What the page shows of a compiled kernel: its hottest loop, or all of it ("text"); or why
    there is nothing to show ("why"). The binary may be for a different machine."""
    tool = shutil.which("objdump") or shutil.which("llvm-objdump")
    if tool is None:
        return {"text": None, "why": "objdump was not found: install binutils, or on macOS Xcode"}
    text = output_of(tool, binary)
    if text is None:
        return {"text": None, "why": "objdump cannot read this machine code"}
    loop = hot_loop(text)
    return {"text": loop or instructions(text), "loop": loop is not None, "why": ""}


def output_of(tool: str, binary: bytes) -> str | None:
    """The output of objdump; None if it fails, as GNU's does on a foreign machine's binary."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(binary)
        file.flush()
        for syntax in (("-M", "intel"), ()):  # LLVM's rejects x86's option for other machines
            command = [tool, "-d", "--no-show-raw-insn", *syntax, file.name]
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                return subprocess.check_output(
                    command, stderr=subprocess.DEVNULL, timeout=20, errors="replace"
                )
    return None


def instructions(text: str) -> str:
    """The instructions of a disassembly, one per line."""
    lines, inside = [], True
    for line in text.splitlines():
        if line.startswith("Disassembly of section"):
            inside = KERNELS.match(line) is not None
        elif inside and (found := INSTRUCTION.match(line)):
            lines.append(f"{found['place']}\t{found['words']}")
    return "\n".join(lines)


def hot_loop(text: str) -> str | None:
    """The innermost loop with the most arithmetic in a disassembly; None if no loop has any.

    A loop is a backward jump; it is innermost if it contains no other.
    """
    lines = instructions(text).splitlines()
    rows = [line.split("\t", 1) for line in lines]  # a place and an instruction
    numbers = {int(place.strip(" :"), 16): n for n, (place, _) in enumerate(rows)}
    loops = []
    for n, (_, words) in enumerate(rows):
        jump = JUMP.match(words)
        if jump and (start := numbers.get(int(jump["to"], 16), n)) < n:
            loops.append((start, n))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]

    def work(loop: tuple[int, int]) -> int:
        return sum(bool(meaning(words)) for _, words in rows[loop[0] : loop[1] + 1])

    if not inner or not work(hottest := max(inner, key=work)):
        return None
    return "\n".join(lines[hottest[0] : hottest[1] + 1])
