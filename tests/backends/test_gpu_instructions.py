"""Products and convolutions on a GPU, where none is at hand: the instructions that NVIDIA's
compiler makes of a kernel, what its accesses cost, and faults that the emulator has to find.

The instructions expected of products are those of kernels that were written by hand and measured
on an H200: 0.96 of cuBLAS in float32, 0.40 to 0.45 in float16 (docs/gpu.md).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter

import numpy as np
import pytest

import tinyframe.gpu.passes
from tests.kernels import filled, kernel_of, on_buffer, run_with, schedule_of
from tinyframe import Context, Device, Tensor, dtypes, thresholds
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts
from tinyframe.codegen.program import ProgramSpec
from tinyframe.gpu.drivers.cuda_emulator import DataRace, NotWaitedFor
from tinyframe.gpu.languages.cuda import CUDALanguage, target_for
from tinyframe.tools.ptx import programs, sass
from tinyframe.tools.warps import traffic_of
from tinyframe.uop.node import Ops

HALVES = "empty(4096, 4096, dtype=dtypes.half)"
IMAGES, WEIGHTS = "empty(64, 64, 56, 56{0})", "empty(64, 64, 3, 3{0})"
CONVOLUTION = f"{IMAGES}.conv2d({WEIGHTS}, padding=1)"
HEADS = "empty(8, 16, 1024, 64, dtype=dtypes.half)"
APART = """(lambda x, w: x.conv2d(w, stride=2, padding=1).gradient(
    x, w, gradient=empty(32, 128, 28, 28))[0])(empty(32, 64, 56, 56), empty(128, 64, 3, 3))"""
KERNELS = {
    "float32": "empty(4096, 4096) @ empty(4096, 4096)",
    "float16": f"{HALVES} @ {HALVES}",
    "float16, transposed": f"{HALVES} @ {HALVES}.T",
    "bfloat16": f"{HALVES} @ {HALVES}".replace("half", "bfloat16"),
    "TF32": "empty(4096, 4096) @ empty(4096, 4096)",
    "convolution": CONVOLUTION.format(""),
    "convolution of float16": CONVOLUTION.format(", dtype=dtypes.half"),
    "1x1": "empty(64, 256, 28, 28).conv2d(empty(256, 256, 1, 1))",
    "attention of float16": f"{HEADS}.scaled_dot_product_attention({HEADS}, {HEADS})",
    "gradient by the input": APART,
    "gradient by the input, TF32": APART,  # in which PTX has no sum of two float4
    "transpose": "empty(8192, 8192).T.contiguous()",
    "an odd sum": "empty(4096, 1023) @ empty(1023, 4096)",
    "an odd sum of float16": "empty(4096, 1023, dtype=dtypes.half) @ "
    "empty(1023, 4096, dtype=dtypes.half)",
    "a sum of 1000 float16": "empty(4096, 1000, dtype=dtypes.half) @ "
    "empty(1000, 4096, dtype=dtypes.half)",
}
ARCHITECTURES = ["sm_75", "sm_80", "sm_89", "sm_90"]


@functools.cache
def programs_of(name: str, architecture: str) -> list[ProgramSpec]:
    with Context(TF32=int("TF32" in name)):
        return programs(KERNELS[name], architecture)


@functools.cache
def instructions(name: str, architecture: str, which: int = 0) -> Counter[str]:
    """How often each instruction is in the machine code."""
    text = sass(programs_of(name, architecture)[which].src, architecture)
    return Counter(re.findall(r"\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", text))


def count(found: Counter[str], pattern: str) -> int:
    return sum(n for name, n in found.items() if re.fullmatch(pattern, name))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", KERNELS)
def test_no_register_is_spilled(name, architecture):
    for which in range(len(programs_of(name, architecture))):
        assert count(instructions(name, architecture, which), r"(STL|LDL).*") == 0


# kernel -> architecture, instruction -> how often
AS_BY_HAND = {
    "float32": ("sm_90", {"FFMA": 1024, r"LDS\.128": 48, r"LDG.*128.*": 6, "STS": 16,
                          r"STS\.128": 2, r"STG.*128": 32, "BAR.*": 2}),
    # three panels of 64 terms; the kernel by hand reads four matrices of B at once, here it is two
    "float16": ("sm_90", {"HMMA.*": 128, r"LDGSTS.*128": 36, r"LDSM.*M88\.4": 16,
                          r"LDSM.*MT88\.2": 32, "STG.*": 64, r"LDG\.E.*": 0, "BAR.*": 1}),
    "float16, transposed": ("sm_90", {"HMMA.*": 128, r"LDSM.*M88\.2": 32, r"LDGSTS.*128": 36}),
    "bfloat16": ("sm_90", {"HMMA.*BF16": 128, r"LDGSTS.*128": 36, "LDSM.*": 48}),
    # 163 KB of shared memory hold two panels of 64 terms, 99 KB two of 32
    "TF32": ("sm_80", {"HMMA.*TF32": 128, r"LDG.*128.*": 24}),
    "attention of float16": ("sm_89", {"HMMA.*": 128, r"LDGSTS.*128": 18}),
    "convolution of float16": ("sm_90", {"HMMA.*": 252, r"LDSM.*M88\.4": 36, r"LDSM.*M88\.2": 63}),
    "an odd sum": ("sm_90", {"FFMA": 1024, r"LDS\.128": 48, "BAR.*": 2}),
    "an odd sum of float16": ("sm_90", {"HMMA.*": 128, "LDSM.*": 48, "BAR.*": 2}),
    "a sum of 1000 float16": ("sm_90", {"HMMA.*": 128, r"LDGSTS.*128": 36, "LDSM.*": 48}),
    "transpose": ("sm_90", {r"LDG.*128.*": 1, r"STG.*128": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_BY_HAND)
def test_the_instructions_are_those_of_a_kernel_written_by_hand(name):
    architecture, expected = AS_BY_HAND[name]
    found = instructions(name, architecture)
    assert {pattern: count(found, pattern) for pattern in expected} == expected


def test_a_convolution_multiplies_more_often_than_it_reads():
    found = instructions("convolution", "sm_90")
    assert count(found, "FFMA") >= 10 * count(found, "LDS.*")


def test_sm_75_has_neither_the_copies_nor_the_tensor_cores():
    found = instructions("float16", "sm_75")
    assert count(found, "(HMMA|LDSM|LDGSTS).*") == 0 < count(found, "FFMA")


# the first block of a kernel is the same for a longer sum
SHORT = {
    "float32": "empty(4096, 64) @ empty(64, 4096)",
    "float16": "empty(4096, 256, dtype=dtypes.half) @ empty(256, 4096, dtype=dtypes.half)",
    "transpose": "empty(4096, 4096).T.contiguous()",
}


@pytest.mark.parametrize("name", SHORT)
def test_panels_have_no_bank_conflicts_and_memory_is_accessed_in_whole_sectors(name):
    (program,) = programs(SHORT[name], "sm_90")
    for row in traffic_of(program):
        # a thread of a tensor core has two results of a row, and four threads half a sector
        halved = name == "float16" and row.name == "data0"
        assert row.took == row.least * (1 + halved), row


@pytest.mark.parametrize("size", ["4096, 4096", "100_000, 36", "3, 50_000"])
def test_running_values_are_loaded_and_stored_as_vectors(size):
    for program in programs(f"empty({size}).cumsum(1)", "sm_90"):
        # each thread has a row, or a part of one, and half a sector of it at a time
        assert all(row.took <= 2 * row.least for row in traffic_of(program)), program.name


# ---- faults --------------------------------------------------------------------------------------


def product(dtype, rows: int = 128, summed: int = 256, columns: int = 128) -> Tensor:
    rng = np.random.default_rng(0)
    a, b = (
        filled(rng.normal(size=shape).astype(np.float32), "CUDA").cast(dtype).realize()
        for shape in ((rows, summed), (summed, columns))
    )
    return a.matmul(b, dtype=dtypes.float)


@pytest.fixture
def emulator(monkeypatch):
    monkeypatch.setenv("CUDA_EMULATE", "2")
    monkeypatch.setattr(Device, "_opened", {})
    return monkeypatch


@pytest.mark.parametrize(
    ("dtype", "op", "error"),
    [(dtypes.float, Ops.BARRIER, DataRace), (dtypes.half, Ops.BARRIER, DataRace),
     (dtypes.half, Ops.WAIT, NotWaitedFor)],
)  # fmt: skip
def test_a_barrier_or_a_wait_that_is_missing_is_found(dtype, op, error, emulator):
    whole = tinyframe.gpu.passes.pipelined
    kernel = product(dtype)
    emulator.setattr(
        tinyframe.gpu.passes, "pipelined",
        lambda uops, target: [u for u in whole(uops, target) if u.op is not op],
    )  # fmt: skip
    with pytest.raises(error):
        run_with(kernel, None, "CUDA")


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.half])
@pytest.mark.parametrize("kept", [2, 3, 4])
def test_any_number_of_panels_gives_the_same(kept, dtype, emulator):
    opts = [Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.LOCAL, 0, 8), Opt(OptOps.VECTOR, 2, 4),
            Opt(OptOps.LOCAL, 2, 8), Opt(OptOps.SPLIT, 4, 16), Opt(OptOps.GLOBAL, 0),
            Opt(OptOps.GLOBAL, 2), Opt(OptOps.STAGE, 4, 1), Opt(OptOps.STAGE, 4, 2)]  # fmt: skip
    tensor = product(dtype, 36, 96, 40)
    one, several = (
        run_with(tensor, [*opts, *more], "CUDA") for more in ([], [Opt(OptOps.PIPELINE, 4, kept)])
    )
    np.testing.assert_array_equal(one, several)


# of operands a and b; on an architecture with so much shared memory, which so many blocks fill
UNEVEN = {
    "panels of an odd size": (
        lambda a, b: a @ b, (5, 97), (97, 101), dtypes.float, ("sm_80", 48 << 10, 1)),
    "a sum that ends inside of a step": (
        lambda a, b: a @ b, (64, 45), (45, 64), dtypes.float, ("sm_80", 48 << 10, 1)),
    "a sum that ends inside of a step of tensor cores": (
        lambda a, b: a @ b, (64, 237), (237, 64), dtypes.half, ("sm_80", 48 << 10, 1)),
    "a part that is only padding": (
        lambda a, b: a.conv2d(b, stride=(3, 1), dilation=(1, 2), padding=(0, 0, 1, 1)),
        (1, 4, 3, 14), (16, 4, 3, 5), dtypes.half, ("sm_80", 48 << 10, 1)),
    "a panel filled in loops": (
        lambda a, b: a.conv2d(b, stride=3),
        (3, 64, 16, 12), (16, 64, 1, 1), dtypes.half, ("sm_75", 16 << 10, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNEVEN)
def test_panels_that_do_not_come_out_even_give_what_plain_loops_give(name, emulator):
    compute, *shapes, dtype, (architecture, shared, filling) = UNEVEN[name]
    target = dataclasses.replace(target_for(architecture), shared_bytes=shared)
    emulator.setattr(Device["CUDA"], "_renderer", CUDALanguage(target))
    emulator.setattr(thresholds, "FILLING_BLOCKS", filling)
    emulator.setattr(thresholds, "MANY_THREADS", 1)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    tensor = compute(*[filled(array, "CUDA").cast(dtype).realize() for array in arrays])
    (item,) = schedule_of(tensor)
    assert OptOps.PIPELINE in {opt.op for opt in get_program(item.ast, CUDALanguage(target)).opts}
    with Context(NOOPT=1):  # the terms are small integers, whose sums are exact
        expected = compute(*[filled(array, "CPU").cast(dtype) for array in arrays]).numpy()
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_what_cannot_be_pipelined_is_refused_with_the_reason():
    kernel = kernel_of(on_buffer(64, 64) @ on_buffer(64, 64))
    blocks = [Opt(OptOps.LOCAL, 0, 8), Opt(OptOps.SPLIT, 3, 16)]
    staged = [*blocks, Opt(OptOps.STAGE, 3, 1)]
    for opts, axis, count_, words in (
        (staged, 3, 1, "a loop of 4 keeps 2 to as many"),
        (staged, 3, 5, "not 5"),
        (staged, 0, 2, "only loops of reduces"),
        (blocks, 3, 2, "apply STAGE there first"),
        ([Opt(OptOps.SPLIT, 2, 16), Opt(OptOps.STAGE, 2, 1)], 2, 2, "a single thread"),
    ):
        with pytest.raises(KernelOptError, match=words):
            apply_opts(kernel, [*opts, Opt(OptOps.PIPELINE, axis, count_)], target_for("sm_80"))
