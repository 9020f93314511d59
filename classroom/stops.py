"""A breakpoint in a notebook that stops nothing: Python's debugger, with its commands typed ahead.

    def nosy(u):
        breakpoint()                      # in a rule, say

    with typed("p u.op.name", "up", "w"):
        (a + b).realize()                 # prints what you'd have seen

The first breakpoint that is reached gets the commands; at those after it, the program just goes on.
The debugger looks at frames and traces nothing, so coverage, or another debugger, stays as it is.
Paths and numbers of lines are left out of what is printed: they differ from one day to the next.
"""

from __future__ import annotations

import io
import linecache
import pdb
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from classroom.exercise import Wrong, wrong_if

ROOT = Path(__file__).resolve().parents[1]
PROMPT = "(Pdb) "
MOST = 60  # commands
# A command, or where the debugger stands.
OTHER = re.compile(r"\(Pdb\) |-> |[> ] \S+.*\(\)$")
# What would go on line by line: here nothing waits for it.
STEPS = ("s", "step", "n", "next", "r", "return", "unt", "until", "j", "jump", "debug", "run",
         "restart", "interact", "b", "break", "tbreak")  # fmt: skip


# In a notebook, IPython has put a debugger of its own in the place of Python's.
Debugger: Any = next(kind for kind in pdb.Pdb.__mro__ if kind.__module__ == "pdb")


class Typist(Debugger):
    """The debugger, on one frame, with commands from a list. out: what it prints."""

    def __init__(self, commands: Sequence[str], until: FrameType) -> None:
        self.out, self.until = io.StringIO(), until
        super().__init__(stdin=_Echo(commands, self.out), stdout=self.out, nosigint=True,
                         readrc=False)  # fmt: skip
        self.use_rawinput, self.prompt = False, PROMPT

    def look(self, frame: FrameType) -> None:
        """Stand in this frame, and do as the list says."""
        self.reset()
        self.interaction(frame, None)

    def get_stack(self, f: FrameType | None, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        """The frames from the block that the program runs in, to where it stands."""
        stack, place = super().get_stack(f, t)
        outer = next((n for n, (frame, _) in enumerate(stack) if frame is self.until), 0)
        return stack[outer:], max(place - outer, 0)

    def format_stack_entry(self, frame_lineno: tuple[FrameType, int], lprefix: str = ": ") -> str:
        frame, number = frame_lineno
        code = frame.f_code
        text = linecache.getline(code.co_filename, number, frame.f_globals).strip()
        return f"{place_of(code.co_filename)}  {code.co_name}()\n-> {text}"

    def onecmd(self, line: str) -> bool:
        if line.split(" ")[0] in STEPS:
            self.message(f"*** {line.split(' ')[0]}: nobody waits here, so look around instead")
            return False
        return bool(super().onecmd(line))

    def do_continue(self, arg: str) -> bool:  # Pdb's would end what others trace
        return True

    do_c = do_cont = do_q = do_quit = do_exit = do_EOF = do_continue


class _Echo(io.StringIO):
    """Input that is seen where it is typed, as at a terminal; when it is used up, `continue`."""

    def __init__(self, commands: Sequence[str], out: io.StringIO) -> None:
        super().__init__("".join(f"{command}\n" for command in commands))
        self.out = out

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        line = super().readline() or "continue\n"
        self.out.write(line)
        return line


def place_of(file: str) -> str:
    """A file as it is shown: within the repository, or that it's a cell."""
    path = Path(file)
    if path.is_relative_to(ROOT):
        return path.relative_to(ROOT).as_posix()
    return "your cell" if re.search(r"ipykernel|ipython-input", file) else path.name


def understood(commands: Any) -> list[str]:
    """Commands as a list of lines; a text with several is one, too, prompts and all."""
    if isinstance(commands, str):
        commands = commands.splitlines()
    if not isinstance(commands, (list, tuple)) or not all(isinstance(c, str) for c in commands):
        raise Wrong("The answer has to be a list of commands, each of them a string.")
    lines = [line for command in commands for line in command.splitlines()]
    lines = [line.strip().removeprefix(PROMPT.strip()).strip() for line in lines]
    wrong_if(len(lines) > MOST, f"That's {len(lines)} commands. A few are enough.")
    return [line for line in lines if line]


@contextmanager
def session(commands: Sequence[str], outer: FrameType | None = None) -> Iterator[list[str]]:
    """Inside, the first breakpoint is looked at with these commands; the list that it gives gets
    what was printed, once there was one. outer: the outermost frame that can be looked at; that of
    the `with`, if it isn't given."""
    said: list[str] = []
    here = outer or sys._getframe(2)

    def stop(*given: Any, **named: Any) -> None:
        if said:
            return
        typist = Typist(commands, here)
        said.append("")  # a breakpoint in what a command calls is none
        typist.look(sys._getframe(1))
        said[0] = typist.out.getvalue()

    before, sys.breakpointhook = sys.breakpointhook, stop
    try:
        yield said
    finally:
        sys.breakpointhook = before


@contextmanager
def typed(*commands: str) -> Iterator[None]:
    """Inside, the first breakpoint gets these commands; what that looks like is printed after."""
    with session(understood(list(commands)), sys._getframe(2)) as said:
        yield
    print(said[0].rstrip() if said else "No breakpoint was reached.")


def answers(said: str) -> str:
    """Of a session only what the debugger printed, without what was typed, and without the lines
    that say where it stands."""
    return "\n".join(line for line in said.splitlines() if not OTHER.match(line))
