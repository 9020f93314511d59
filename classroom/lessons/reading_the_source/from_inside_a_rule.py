"""Commands for the debugger that print how many nodes the kernel has

Hint: Which of the frames above knows the whole kernel? `w` shows them all.
Hint: `up` takes a number. In the frame of `get_program`, the kernel is called `ast`.
Because: A rule sees one node. Whoever called the compiler still has the whole kernel, and in a
frame further out you can use its variables.
Right: You looked up from a rule, through the compiler, to the whole kernel.
"""

import random
import re

from classroom import stops
from classroom.added import added
from classroom.exercise import Wrong
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp


def at_an_addition(u: UOp) -> None:
    breakpoint()


def deeper(size: int) -> tuple[UOp, int]:
    """A kernel that multiplies a few times and adds 1, and how many nodes it has."""
    x = Tensor([1.0] * size).realize()
    for n in range(size % 7 + 2):
        x = x * (n + 2)
    (item,) = (x + 1).schedule()
    return item.ast, len(item.ast.toposort())


def printed_in(kernel: UOp, commands: list[str]) -> str:
    """What the debugger prints. The outermost frame that it sees is this one, and no name of the
    compiler's is in it, as none is in a learner's cell."""
    table = PatternMatcher([(UPat(Ops.ADD, name="u"), at_an_addition)])
    with added(table), stops.session(commands) as said:
        get_program(kernel, CStyleLanguage(), [])
    return stops.answers(said[0])


def check(answer) -> None:
    commands = stops.understood(answer)
    for size in (3, *random.sample(range(20, 80), 2)):
        kernel, nodes = deeper(size)
        printed = printed_in(kernel, commands)
        if not re.search(rf"(?<![\w.]){nodes}(?![\w.])", printed):
            raise Wrong("The number of nodes isn't among what was printed.", "a kernel that adds 1",
                        nodes if size == 3 else "",
                        (printed.strip() or "nothing")[-200:] if size == 3 else "")  # fmt: skip

# %% wrong, each line
["w"]  # says isn't among what was printed
12  # says has to be a list of commands
["up 99", "p len(ast.toposort())"]  # all the way out, past the compiler

# %% right, each line
"up 9 ;; p len(ast.toposort())"  # two commands in a line

# %% right: goes out by itself, however far it is
commands = ["import sys; frame = sys._getframe()",
            "while 'ast' not in frame.f_locals: frame = frame.f_back",
            "p len(frame.f_locals['ast'].toposort())"]
