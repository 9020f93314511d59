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
    vec a = (vec){0} + 0.999f, b = (vec){0} + 1.0f, ACCUMULATORS;
    for (int n = 0; n < ROUNDS; n++) {
      MULTIPLY_ADDS
    }
    ((vec*)bufs[0])[part] = TOTAL;
  }
}
void read_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int part = start; part < stop; part++) {
    const vec* x = (const vec*)((float*)bufs[0] + (long)part * PART);
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int n = 0; n < PART / LANES; n += 4) {
      s0 += x[n]; s1 += x[n + 1]; s2 += x[n + 2]; s3 += x[n + 3];
    }
    ((vec*)bufs[1])[part] = s0 + s1 + s2 + s3;
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
    # named one by one: an array of them would be kept in memory by some compilers
    sums = [f"s{n}" for n in range(CHAINS)]
    pieces_of_source = {
        "ACCUMULATORS": ", ".join(f"{s} = b + {n}.0f" for n, s in enumerate(sums)),
        "MULTIPLY_ADDS": " ".join(f"{s} = {s} * a + b;" for s in sums),
        "TOTAL": " + ".join(sums),
        "LANES": str(lanes), "ROUNDS": str(ROUNDS), "PART": str(part),
    }  # fmt: skip
    source = LOOPS
    for name, text in pieces_of_source.items():
        source = source.replace(name, text)
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
