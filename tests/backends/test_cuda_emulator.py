"""CUDA kernels on the processor: right results, and whatever a kernel must not do is found."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator

import numpy as np
import pytest

from tests.gpu_kernels import GLOBAL, LOCAL, VECTOR
from tests.kernels import filled, kernel_of, numbers, on_buffer, program_of, run_with
from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.device import Buffer, CompileError, NoCompiler
from tinyframe.gpu.drivers import cuda_emulator
from tinyframe.gpu.drivers.cuda_emulator import (
    BarrierDivergence,
    DataRace,
    EmulatorCompiler,
    KernelFault,
    OutOfBounds,
)
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import Writer
from tinyframe.run.realize import record_runs
from tinyframe.search import beam as search
from tinyframe.uop.node import Ops, UOp


@pytest.fixture(autouse=True)
def emulated(monkeypatch) -> Iterator[None]:
    """CUDA is the emulator that looks for races, whatever it was before."""
    monkeypatch.setenv("CUDA_EMULATE", "2")
    monkeypatch.setattr(Device, "_opened", {})
    yield


def data(array: np.ndarray) -> Tensor:
    return filled(array, "CUDA")


def run(tensor: Tensor, opts: list[Opt]) -> np.ndarray:
    return run_with(tensor, opts, "CUDA")


# ---- right kernels -------------------------------------------------------------------------------


def test_only_the_thread_that_stores_a_result_reads_what_it_overwrites():
    """What is added to a row is summed by the threads of a block together."""
    x, more = numbers(2, 1), numbers(2, 512, seed=1)
    tensor, terms = data(x).realize(), data(more).realize()
    with record_runs() as runs:
        tensor.assign(tensor + terms.sum(1, keepdim=True)).realize()
        np.testing.assert_array_equal(tensor.numpy(), x + more.sum(1, keepdims=True))
    asts = [item.ast for items, _ in runs for item in items if item.ast.op is Ops.SINK]
    assert any("GROUP" in str(program_of(ast, device="CUDA").opts) for ast in asts)


VECTORS = [Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 4), Opt(GLOBAL, 0)]


def test_every_float16_and_roundings_to_it():
    every = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    widened = data(every).cast(dtypes.float).numpy()
    np.testing.assert_array_equal(widened, every.astype(np.float32))
    finite = every[np.isfinite(every)].astype(np.float32)
    ties = (np.sort(finite)[:-1] + np.sort(finite)[1:]) / 2
    near = np.concatenate([np.nextafter(ties, np.float32(np.inf)), ties,
                           np.nextafter(ties, np.float32(-np.inf)),
                           np.array([65519.9, 65520, -65520, 1e30, np.inf, -np.inf, np.nan,
                                     2**-25, 2**-24, -0.0], np.float32)])  # fmt: skip
    with np.errstate(over="ignore"):
        expected = near.astype(np.float16)
    rounded = data(near).cast(dtypes.half).numpy()
    np.testing.assert_array_equal(rounded, expected)
    np.testing.assert_array_equal(np.signbit(rounded), np.signbit(expected))


# ---- planted mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize("opts", [[], [Opt(LOCAL, 0, 8), Opt(GLOBAL, 0)], VECTORS], ids=str)
def test_an_index_that_is_one_too_large_is_found(opts, monkeypatch):
    read, pointer = CStyleLanguage.read, Writer.pointer
    x = numbers(64)
    np.testing.assert_array_equal(run(data(x) * 2, opts), x * 2)

    def off(self: CStyleLanguage, memory: UOp, name: str, place: str) -> str:
        return read(self, memory, name, f"{place} + 1")

    monkeypatch.setattr(CStyleLanguage, "read", off)
    monkeypatch.setattr(Writer, "pointer", lambda self, index: f"({pointer(self, index)} + 4)")
    with pytest.raises(OutOfBounds, match=r"data[01]\[64\], which has 64 elements"):
        run(data(x) * 2, opts)


# ---- what a kernel must not do -------------------------------------------------------------------

HEAD = """extern "C" __global__ void __launch_bounds__(8) \
k(float* __restrict__ data0, const float* __restrict__ data1, const long long n) {
"""
PANEL = "__shared__ __align__(16) float panel0[8];\n"
FAULTS = {
    "reads behind a buffer": (
        "data0[threadIdx.x] = data1[threadIdx.x + n];",
        OutOfBounds,
        "kernel k: thread (7, 0, 0) of block (0, 0, 0) reads data1[8], which has 8 elements",
    ),
    "writes before a buffer": (
        "int i = threadIdx.x; data0[i - n] = 0;",
        OutOfBounds,
        "thread (0, 0, 0) of block (0, 0, 0) writes data0[-1]",
    ),
    "is a row off": ("data0[n * 15] = 0;", OutOfBounds, "writes data0[15], which has 8"),
    "leaves a shared array": (
        PANEL + "int i = threadIdx.x; panel0[i + n] = 0;",
        OutOfBounds,
        "thread (7, 0, 0) of block (0, 0, 0) writes panel0[8], which has 8 elements",
    ),
    "moves half a vector out of a buffer": (
        "*reinterpret_cast<float2*>(data0 + 8 * n) = make_float2(0, 0);",
        OutOfBounds,
        "writes data0[8]",
    ),
    "moves a vector from an odd place": (
        "*reinterpret_cast<float4*>(data0 + n) = make_float4(0, 0, 0, 0);",
        KernelFault,
        "accesses a vector at data0[1], which is not aligned to its 16 bytes",
    ),
    "copies a vector from behind a buffer": (
        "reinterpret_cast<float4*>(data0)[threadIdx.x % 2] = "
        "reinterpret_cast<const float4*>(data1)[threadIdx.x % 2 + n];",
        OutOfBounds,
        "thread (1, 0, 0) of block (0, 0, 0) reads data1[8], which has 8 elements",
    ),
    "writes one element from all threads": (
        "data0[0] = threadIdx.x;",
        DataRace,
        "thread (1, 0, 0) of block (0, 0, 0) writes data0[0], which "
        "thread (0, 0, 0) of block (0, 0, 0) writes",
    ),
    "writes vectors that differ in their first number": (
        "float4 v = {float(threadIdx.x), 0, 0, 0}; *reinterpret_cast<float4*>(data0) = v;",
        DataRace,
        "writes data0[0], which thread",
    ),
    "writes one element from all blocks": (
        "if (threadIdx.x == 0) data0[0] = blockIdx.x;",
        DataRace,
        "thread (0, 0, 0) of block (1, 0, 0) writes data0[0], which "
        "thread (0, 0, 0) of block (0, 0, 0) writes",
    ),
    "writes what two others read": (
        "data0[threadIdx.x] = data0[7] + 1;",
        DataRace,
        "thread (7, 0, 0) of block (0, 0, 0) writes data0[7], which thread",
    ),
    "reads a neighbour's element too early": (
        PANEL + "panel0[threadIdx.x] = 0; data0[8 * blockIdx.x] = panel0[7 - threadIdx.x];",
        DataRace,
        "panel0[",
    ),
    "ends while others wait": (
        "if (threadIdx.x < 3)\n  __syncthreads();",
        BarrierDivergence,
        "thread (3, 0, 0) of block (0, 0, 0) has ended, and thread (0, 0, 0) waits at "
        "the barrier in line 3",
    ),
    "waits in two places": (
        "if (threadIdx.x < 3)\n  __syncthreads();\nelse\n  __syncthreads();",
        BarrierDivergence,
        "thread (3, 0, 0) of block (0, 0, 0) waits at the barrier in line 5, and thread (0, 0, 0) "
        "waits at the barrier in line 3",
    ),
}


def launch(body: str, threads: int = 8, blocks: int = 2, n: int = 1) -> np.ndarray:
    device = Device["CUDA"]
    runner = device.runner("k", device.compiler.compile_cached(f"{HEAD}{body}\n}}\n"))
    x = np.arange(8, dtype=np.float32)
    bufs = [Buffer("CUDA", 8, dtypes.float, initial_value=x.tobytes()) for _ in range(2)]
    runner(*[b._buf for b in bufs], global_size=(blocks, 1, 1), local_size=(threads, 1, 1),
           vals=(n,), wait=True)  # fmt: skip
    return bufs[0].numpy()


@pytest.mark.parametrize("name", FAULTS)
def test_a_kernel_that(name):
    body, error, words = FAULTS[name]
    with pytest.raises(error, match=re.escape(words)):
        launch(body)
    # nothing is left of it
    np.testing.assert_array_equal(launch("data0[threadIdx.x] = n;", blocks=1), np.full(8, 1))


def test_two_threads_may_write_the_same_value():
    np.testing.assert_array_equal(launch("data0[threadIdx.x / 2] = n;")[:4], np.ones(4))


def test_a_barrier_keeps_threads_apart():
    body = PANEL + "panel0[threadIdx.x] = data1[threadIdx.x];\n__syncthreads();\n"
    body += "data0[threadIdx.x] = panel0[7 - threadIdx.x];"
    np.testing.assert_array_equal(launch(body, blocks=1), np.arange(8)[::-1])


def test_more_threads_than_a_kernel_is_compiled_for():
    with pytest.raises(KernelFault, match="a block of 9 threads, but the kernel is compiled for 8"):
        launch("data0[0] = 1;", threads=9)


# ---- settings and compilers ----------------------------------------------------------------------


def test_one_process_has_one_kind_of_CUDA(monkeypatch):
    x = data(numbers(3))
    monkeypatch.delenv("CUDA_EMULATE")
    with pytest.raises(RuntimeError, match="opened with CUDA_EMULATE set.*[Kk]eep it set"):
        (x * 7 + 3).realize()


def test_a_compiler_that_knows_no_C_plus_plus(tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'cc: fatal error: cannot execute cc1plus' >&2; exit 1\n")
    compiler.chmod(0o755)
    with pytest.raises(CompileError, match="cc1plus"):
        EmulatorCompiler((str(compiler),)).compile(program_of(on_buffer(3) + 1, [], "CUDA").src)


def test_a_source_without_a_kernel():
    with pytest.raises(CompileError, match="there is no kernel"):
        Device["CUDA"].compiler.compile("int x;")


def test_its_seconds_say_nothing_of_a_gpu_so_that_beam_leaves_the_plan():
    kernel = kernel_of(filled(numbers(8, 8), "CUDA").sum(1))
    assert search.search_result(kernel, Device["CUDA"], 2) is None


def test_without_a_compiler_the_emulator_says_what_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    cuda_emulator._compiler.cache_clear()
    try:
        with pytest.raises(NoCompiler, match="^CUDA_EMULATE needs a C compiler.*ziglang"):
            (Tensor([1.0], device="CUDA") * 41).realize()
    finally:
        monkeypatch.undo()
        cuda_emulator._compiler.cache_clear()
    assert (Tensor([1.0], device="CUDA") * 41).tolist() == [41.0]
