"""What the memory accesses of a warp cost, in kernels written by hand whose counts are known."""

from __future__ import annotations

import pytest

from tinyframe.gpu import banks
from tinyframe.tools.ptx import main, programs
from tinyframe.tools.warps import Traffic, traffic, traffic_of

HEAD = """extern "C" __global__ void __launch_bounds__(64) \
k(float* __restrict__ out, const float* __restrict__ a, half* h, double* d) {
int t = threadIdx.x;
__shared__ __align__(16) float panel[4096];
"""
FILL = "for (int n = 0; n < 4096; n += 64) panel[n + t] = 0;\n__syncthreads();\n"
VECTOR = "float4 v = *reinterpret_cast<const float4*>({}); out[t] = v.x + v.y + v.z + v.w;"

# body -> array, is_write, (requests, took, at best); two warps
READS = {
    # global memory: 32 neighbouring floats are 4 sectors
    "out[t] = a[t];": ("a", False, (2, 8, 8)),
    "out[t] = a[t + 1];": ("a", False, (2, 10, 8)),
    "out[t] = a[64 * t];": ("a", False, (2, 64, 8)),
    "out[t] = a[7];": ("a", False, (2, 2, 2)),
    "out[64 * t] = 1;": ("out", True, (2, 64, 8)),
    "if (t % 32 < 16) out[t] = 1;": ("out", True, (2, 4, 4)),
    "h[t] = 1;": ("h", True, (2, 4, 4)),
    "d[t] = 1;": ("d", True, (2, 16, 16)),
    VECTOR.format("a + 4 * t"): ("a", False, (2, 32, 32)),
    VECTOR.format("a + 64 * t"): ("a", False, (2, 64, 32)),
    "float s = 0; for (int n = 0; n < 5; n++) s += a[64 * n + t]; out[t] = s;":
        ("a", False, (10, 40, 40)),
    # a thread that leaves one out does not shift the others' requests
    "float s = 0; if (t == 3) s = a[t + 64]; __syncthreads(); out[t] = s + a[t];":
        ("a", False, (3, 9, 9)),
    # shared memory
    FILL: ("panel", True, (128, 128, 128)),
    FILL + "out[t] = panel[t];": ("panel", False, (2, 2, 2)),
    FILL + "out[t] = panel[2 * t];": ("panel", False, (2, 4, 2)),
    FILL + "out[t] = panel[32 * t];": ("panel", False, (2, 64, 2)),
    FILL + "out[t] = panel[33 * t];": ("panel", False, (2, 2, 2)),
    FILL + "out[t] = panel[5];": ("panel", False, (2, 2, 2)),
    FILL + "out[t] = panel[t % 2 * 32];": ("panel", False, (2, 4, 2)),
    FILL + VECTOR.format("panel + 4 * t"): ("panel", False, (2, 8, 8)),
    FILL + VECTOR.format("panel + 8 * t"): ("panel", False, (2, 16, 8)),
    FILL + VECTOR.format("panel + 36 * t"): ("panel", False, (2, 8, 8)),
    "__shared__ half small[2048]; small[2 * t] = 1; small[2 * t + 1] = 1;":
        ("small", True, (4, 4, 4)),
    "__shared__ half small[2048]; small[64 * t / 2] = 1;": ("small", True, (2, 32, 2)),
    "__shared__ double wide[2048]; wide[t] = 1;": ("wide", True, (2, 4, 4)),
    "__shared__ double wide[2048]; wide[2 * t] = 1;": ("wide", True, (2, 8, 4)),
}  # fmt: skip


@pytest.mark.parametrize("body", READS)
def test_requests_of(body):
    array, is_write, expected = READS[body]
    found = traffic("k", f"{HEAD}{body}\n}}\n", [1 << 16] * 4, (64, 1, 1))
    (row,) = [x for x in found if x.name == array and x.is_write == is_write]
    assert (row.requests, row.took, row.least) == expected
    assert row.is_shared == (array not in ("a", "out", "h", "d"))


# ---- kernels of tinyframe ------------------------------------------------------------------------


def moves(expression: str) -> list[Traffic]:
    (program,) = programs(expression, "sm_90")
    return traffic_of(program)


def turns(expression: str) -> int:
    return sum(x.took for x in moves(expression) if x.is_shared)


@pytest.mark.parametrize("expression", [
    "empty(512, 96).T.contiguous()",
    "empty(512, 96, dtype=dtypes.half).T.contiguous()",
    "empty(64, 48, dtype=dtypes.double).T.contiguous()",
    "empty(256, 64) @ empty(64, 256)",
    "empty(256, 64, dtype=dtypes.half) @ empty(64, 256, dtype=dtypes.half)",
    "empty(256, 64, dtype=dtypes.half) @ empty(256, 64, dtype=dtypes.half).T",
    "empty(2048, 256).sum(0)",
])  # fmt: skip
def test_no_other_padding_takes_fewer_turns(expression, monkeypatch):
    chosen = turns(expression)
    for nbytes in banks.PADDINGS:
        monkeypatch.setattr(banks, "PADDINGS", (nbytes, 0))
        monkeypatch.setattr(banks.Use, "cost", lambda self, row, padding, itemsize: (-padding, 0))
        banks.padded_panels.cache_clear()
        assert chosen <= turns(expression)
    banks.padded_panels.cache_clear()


@pytest.mark.parametrize(("rows", "columns"), [(512, 96), (300, 500), (301, 500), (300, 501)])
def test_a_transpose_has_no_conflicts_and_moves_whole_sectors(rows, columns):
    for x in moves(f"empty({rows}, {columns}).T.contiguous()"):
        # where rows of memory begin inside of sectors, a part of a row may lie in one more
        row = columns if x.name == "data1" else rows
        most = x.least if x.is_shared or row % 8 == 0 else x.least * 5 // 4
        assert x.took <= most, x


def test_traffic_on_the_command_line(capsys):
    assert main(["--traffic", "empty(8192, 8192).T.contiguous()"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == "data0 written 8 requests 128 sectors 128 at best".split()
    assert len(said) == 6 and "panel0    written        32 requests        32 turns" in said[4]
