"""Flat programs to source text, one module per language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tinyframe.dtype import DType
from tinyframe.uop.node import Ops, UOp


@dataclass(frozen=True)
class Target:
    """What a schedule has to know about the machine.

    vector_bytes: width of a vector register. vector_registers: how many there are. threads: how
    many may run at once. l1, l2, l3: cache sizes in bytes, per core for l1 and l2; 0 if there is
    none. most_lanes: the widest vector of the language; 0 if there is no limit.

    For a device that runs blocks of threads; 0 on a CPU. block_threads: the most threads in a
    block. shared_bytes: the memory they share, of which an element takes least_bytes or more. grid:
    the most blocks along each axis. warp: threads that run in lockstep. most_steps: iterations of
    all loops of a thread together. most_buffers: arguments of a kernel. Both are 0 if there is no
    limit. tensor_cores: the operand formats they take (`gpu/mma.py`). async_copies: whether it
    copies to panels without registers (`gpu/pipeline.py`).
    """

    vector_bytes: int
    vector_registers: int
    threads: int
    l1: int
    l2: int
    l3: int = 0
    most_lanes: int = 0
    block_threads: int = 0
    shared_bytes: int = 0
    least_bytes: int = 1
    grid: tuple[int, ...] = ()
    warp: int = 0
    most_steps: int = 0
    most_buffers: int = 0
    tensor_cores: tuple[str, ...] = ()
    async_copies: bool = False


class Renderer:
    """Writes a flat program as source text. A backend's renderer is a subclass (see cstyle.py)."""

    device = ""
    # elementwise ops the language has; codegen/decompose/ replaces the others
    code_for_op: Mapping[Ops, Callable[..., str]] = {}
    # its functions of float64 that nothing replaces: LOG2, SIN, COS, POW and FMOD
    code_for_double: Mapping[Ops, Callable[..., str]] = {}
    native_half = True  # whether it converts between float16 and float32 itself
    # whether casting a float that does not fit into int32 or int64 gives the smallest integer
    native_casts = False
    # dtypes that a kernel must not contain once its ops are decomposed
    unsupported: frozenset[DType] = frozenset()
    # the machine assumed if none is given
    default_target = Target(
        vector_bytes=16, vector_registers=16, threads=1, l1=32 << 10, l2=256 << 10
    )
    # the language's own passes, by name, which replace what it cannot express
    passes: tuple[tuple[str, Callable[[UOp], UOp]], ...] = ()

    def __init__(self, target: Target | None = None):
        self.target = target or self.default_target

    def render(self, name: str, uops: list[UOp]) -> str:
        raise NotImplementedError(f"{type(self).__name__} does not say how to render")
