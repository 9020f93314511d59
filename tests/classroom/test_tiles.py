"""What Opts cost, counted: the same on every machine, and what the kernel really does."""

from __future__ import annotations

import math

import pytest

from classroom.tiles import LANES, count, planned
from tinyframe import Context, GlobalCounters, Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps

VECTOR = Opt(OptOps.VECTOR, 1, LANES)


def memory(*shape: int) -> Tensor:
    return Tensor.zeros(*shape).contiguous().realize()


def matmul(m: int = 48, n: int = 48, k: int = 64) -> Tensor:
    return memory(m, k) @ memory(k, n)


def tile(h: int, w: int) -> list[Opt]:
    opts = [Opt(OptOps.UPCAST, 1, w), Opt(OptOps.UPCAST, 0, h)]
    return [VECTOR, *[opt for opt in opts if opt.arg > 1]]


def test_loops_as_written_load_twice_for_each_multiplication():
    found = count(matmul(), [])
    assert found.multiplications == 48 * 48 * 64 and found.loads == 2 * found.multiplications
    assert found.results == 1 and found.lines == 64 // 16 + 64 and found.registers == 3


def test_what_overlaps_is_multiplied_twice():
    assert count(matmul(7), tile(6, 2)).multiplications == 12 * 48 * 64 // LANES


def test_wider_vectors_than_a_register_take_several_instructions():
    wide = count(matmul(), [Opt(OptOps.VECTOR, 1, 2 * LANES)])
    pair = count(matmul(), tile(1, 2))
    assert wide.multiplications == pair.multiplications and wide.registers == pair.registers


def test_unrolling_changes_neither_loads_nor_registers():
    unrolled = [*tile(6, 2), Opt(OptOps.UNROLL, 2, 4)]
    assert count(matmul(), unrolled)[:2] == count(matmul(), tile(6, 2))[:2]
    assert count(matmul(), unrolled).registers == 15


def test_a_panel_lies_in_fewer_pages_and_has_to_be_loaded_once():
    x = matmul(512, 512, 512)
    before = count(x, tile(6, 2))
    tidy = [*tile(6, 2), Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.STAGE, 0, 2)]
    after = count(x, tidy)
    assert before.pages == 256 + 3 and after.pages == 8 + 3
    assert after.lines == before.lines
    assert after.loads - before.loads == 512 * 512 // LANES


def test_a_kernel_without_multiplications_has_no_ratio():
    assert count(memory(8) + 1, []).loads_per_multiplication == math.inf


def test_an_illegal_opt_is_refused_and_nothing_ever_runs():
    x = matmul()
    before = GlobalCounters.kernel_count
    with pytest.raises(KernelOptError, match="no axis 7"):
        count(x, [Opt(OptOps.VECTOR, 7, 8)])
    count(x, [VECTOR])
    planned(x)
    assert GlobalCounters.kernel_count == before and x.uop.op.name != "BUFFER"


@pytest.mark.parametrize("noopt", [0, 1])
def test_a_plan_is_told_with_its_reason_whatever_is_set(noopt):
    with Context(NOOPT=noopt):
        found = planned(matmul(512, 512, 512))
    assert found.name == "register tile" and found.opts[:3] == tile(6, 2)
    text = repr(found)
    assert "why:  each operand is reused" in text and "  5. Opt(OptOps.STAGE, 0, 2)" in text
    assert "no Opts" in repr(planned(memory(60, 60)[:, ::-1].sum(axis=0)))
