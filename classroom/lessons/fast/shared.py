"""What several exercises of this lesson need."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from classroom.ask import Wrong, describe, wrong_if
from classroom.tiles import REGISTERS, count
from tinyframe import Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt

CLOSE = 1e-3  # relative


def memory(*shape: int) -> Tensor:
    return Tensor.zeros(*shape).contiguous().realize()


def matmul(m: int, n: int, k: int) -> Tensor:
    return memory(m, k) @ memory(k, n)


def near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * abs(other)


def as_opts(answer) -> list[Opt]:
    """A list of Opts, in whatever form it came."""
    if isinstance(answer, Opt):
        answer = [answer]
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise Wrong("The answer has to be a list of Opts.", got=describe(answer))
    opts = list(answer)
    for opt in opts:
        wrong_if(not isinstance(opt, Opt),
                 "The answer has to be a list of Opts, `[Opt(OptOps.VECTOR, 1, 8), …]`.",
                 got=describe(opt))  # fmt: skip
    return opts


def counted(x: Tensor, opts: Sequence[Opt], case: str) -> Any:
    try:
        return count(x, opts)
    except KernelOptError as error:
        raise Wrong(f"{str(error).replace(' has to be ', ' must be ')}.", case) from None


def in_registers(got: int, case: str) -> None:
    wrong_if(got > REGISTERS, "It doesn't fit: the inner loop takes more registers than there are.",
             case, f"at most {REGISTERS} registers", got)  # fmt: skip


def tiles(registers: int) -> list[tuple[int, int]]:
    """Those that fit: their sums, a row of vectors, a number, and one register to spare."""
    every = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in every if h * w + w + 2 <= registers]
