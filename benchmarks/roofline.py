"""What the machine could do: multiply-adds in registers, and bytes to and from memory.

Both are measured by loops in C, compiled and divided among threads as our kernels are. A kernel
that does `i` operations for each byte that it has to move cannot do more than min(peak, i *
bandwidth) of them in a second: drawn over i, that is the roofline (Williams and others, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.measure import Program, interleaved
from tinyframe import Context, Device
from tinyframe.device import Buffer
from tinyframe.dtype import dtypes

FLOATS = 1 << 25  # of an array that no cache holds: 128 MiB
ROUNDS, CHAINS = 200_000, 16  # CHAINS independent sums hide the latency of each
LOOPS = """
typedef float vec __attribute__((vector_size(LANES * 4), aligned(4)));

void fma_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int part = start; part < stop; part++) {
    vec acc[CHAINS], a = (vec){0} + 0.999f, b = (vec){0} + 1.0f;
    for (int c = 0; c < CHAINS; c++) acc[c] = b + (float)c;
    for (int n = 0; n < ROUNDS; n++) {
#pragma GCC unroll 16
      for (int c = 0; c < CHAINS; c++) acc[c] = acc[c] * a + b;
      __asm__ volatile("" ::: "memory");
    }
    for (int c = 1; c < CHAINS; c++) acc[0] += acc[c];
    ((vec*)bufs[0])[part] = acc[0];
  }
}
void read_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int part = start; part < stop; part++) {
    const vec* x = (const vec*)((float*)bufs[0] + (long)part * PART);
    vec acc[4] = {0};
    for (int n = 0; n < PART / LANES; n += 4)
#pragma GCC unroll 4
      for (int c = 0; c < 4; c++) acc[c] += x[n + c];
    ((vec*)bufs[1])[part] = acc[0] + acc[1] + acc[2] + acc[3];
  }
}
void add_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int part = start; part < stop; part++) {
    const float* x = (float*)bufs[0] + (long)part * PART;
    float* out = (float*)bufs[1] + (long)part * PART;
    for (int n = 0; n < PART; n += LANES) *(vec*)(out + n) = *(const vec*)(x + n) + 1.0f;
  }
}
"""


@dataclass(frozen=True)
class Peaks:
    """Operations in a second (a multiply-add is two), and bytes: the better of reading, and of
    reading and writing."""

    flops: float
    bandwidth: float


def peaks(threads: int, repeats: int = 7) -> Peaks:
    device, lanes = Device["CPU"], Device["CPU"].renderer.target.vector_bytes // 4
    pieces = 8 * threads
    part = FLOATS // pieces // (4 * lanes) * (4 * lanes)
    source = LOOPS
    for name, number in (("LANES", lanes), ("CHAINS", CHAINS), ("ROUNDS", ROUNDS), ("PART", part)):
        source = source.replace(name, str(number))
    with Context(THREADS=threads):
        library = device.compiler.compile_cached(source)
        x, y = (Buffer("CPU", FLOATS, dtypes.float).ensure_allocated() for _ in range(2))
        for buffer in (x, y):
            buffer.copyin(memoryview(bytes(4 * FLOATS)))
        fma, read, add = (device.runner(name, library) for name in ("fma", "read", "add"))
        times = interleaved(
            repeats,
            fma=Program(lambda: fma(y._buf, global_size=(threads, 1, 1))),
            read=Program(lambda: read(x._buf, y._buf, global_size=(pieces, 1, 1))),
            add=Program(lambda: add(x._buf, y._buf, global_size=(pieces, 1, 1))),
        )
    moved = 4.0 * part * pieces
    return Peaks(
        2.0 * threads * ROUNDS * CHAINS * lanes / times["fma"].median,
        max(moved / times["read"].median, 2 * moved / times["add"].median),
    )
