"""What the machine could do: multiply-adds in registers, and bytes to and from memory.

Both are measured by loops in C, compiled and divided among threads as our kernels are. A kernel
that does `i` operations for each byte that it has to move cannot do more than min(peak, i *
bandwidth) of them in a second: drawn over i, that is the roofline (Williams and others, 2009).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.measure import Program, interleaved
from benchmarks.workers import Ready
from tinyframe import Device
from tinyframe.device import Buffer
from tinyframe.dtype import dtypes
from tinyframe.renderer import gcc

FLOATS = 1 << 25  # of an array that no cache holds: 128 MiB
ROUNDS, CHAINS = 200_000, 16  # CHAINS independent sums hide the latency of each
PLACES = 8  # memory comes quicker from several places at once
LOOPS = """
typedef float vec __attribute__((vector_size(LANES * 4), aligned(4)));
PAST_CACHES

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
    vec PARTIAL_SUMS;
    for (int n = 0; n < PLACE; n++) {
      READS
    }
    ((vec*)bufs[1])[part] = SUM_OF_PARTS;
  }
}
void add_entry(void** bufs, const long long* vals, int start, int stop) {
  for (int part = start; part < stop; part++) {
    const float* x = (float*)bufs[0] + (long)part * PART;
    float* out = (float*)bufs[1] + (long)part * PART;
    for (int n = 0; n < PART; n += LANES) stream_vec((vec*)(out + n), *(const vec*)(x + n) + 1.0f);
  }
  streamed();
}
"""


@dataclass(frozen=True)
class Peaks:
    """Operations in a second (a multiply-add is two), and bytes: the better of reading, and of
    reading and writing past the caches."""

    flops: float
    bandwidth: float


def loops(threads: int) -> tuple[dict[str, Callable[[], object]], float, float]:
    """The three loops, with the operations of one `fma` and the bytes that one `read` moves."""
    device, lanes = Device["CPU"], Device["CPU"].renderer.target.vector_bytes // 4
    pieces = 8 * threads
    part = FLOATS // pieces // (PLACES * lanes) * (PLACES * lanes)
    library = device.compiler.compile_cached(source(lanes, part))
    x, y = (Buffer("CPU", FLOATS, dtypes.float).ensure_allocated() for _ in range(2))
    for buffer in (x, y):
        buffer.copyin(memoryview(bytes(4 * FLOATS)))
    fma, read, add = (device.runner(name, library) for name in ("fma", "read", "add"))
    runs: dict[str, Callable[[], object]] = {
        "fma": lambda: fma(y._buf, global_size=(threads, 1, 1)),
        "read": lambda: read(x._buf, y._buf, global_size=(pieces, 1, 1)),
        "add": lambda: add(x._buf, y._buf, global_size=(pieces, 1, 1)),
    }
    return runs, 2.0 * threads * ROUNDS * CHAINS * lanes, 4.0 * part * pieces


def source(lanes: int, part: int) -> str:
    """The loops for vectors of so many floats, and pieces of an array of `part` floats."""
    reads = [f"r{n}" for n in range(PLACES)]
    # named one by one: an array of them would be kept in memory by some compilers
    sums = [f"s{n}" for n in range(CHAINS)]
    pieces_of_source = {
        "ACCUMULATORS": ", ".join(f"{s} = b + {n}.0f" for n, s in enumerate(sums)),
        "MULTIPLY_ADDS": " ".join(f"{s} = {s} * a + b;" for s in sums),
        "TOTAL": " + ".join(sums),
        "PARTIAL_SUMS": ", ".join(f"{r} = {{0}}" for r in reads),
        "READS": " ".join(f"{r} += x[n + {n * (part // PLACES // lanes)}];"
                          for n, r in enumerate(reads)),
        "SUM_OF_PARTS": " + ".join(reads), "PLACE": str(part // PLACES // lanes),
        "PAST_CACHES": f"{gcc.STREAMED}\n{gcc.stream_definition('vec', 4 * lanes)}",
        "LANES": str(lanes), "ROUNDS": str(ROUNDS), "PART": str(part),
    }  # fmt: skip
    text = LOOPS
    for name, piece in pieces_of_source.items():
        text = text.replace(name, piece)
    return text


def peaks(threads: int, repeats: int = 7) -> Peaks:
    """The most that a worker of so many threads reaches in `repeats` turns; called there."""
    runs, operations, moved = loops(threads)
    times = interleaved({name: Program(run) for name, run in runs.items()}, repeats)
    least = {name: min(t.seconds) for name, t in times.items()}
    return Peaks(operations / least["fma"], max(moved / least["read"], 2 * moved / least["add"]))


def one_loop(name: str, threads: int) -> Ready:
    """One of the loops as a worker's program."""
    return Ready(loops(threads)[0][name])
