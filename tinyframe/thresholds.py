"""The numbers behind the compiler's decisions: one table, with units, effects and origins.

    from tinyframe import thresholds
    thresholds.LONG_SUM                 64
    thresholds.TABLE["LONG_SUM"]        its unit, what it moves, where it comes from

The sizes of a machine (vector width, registers, caches, cores) are not here but in its `Target`.
Numbers that are a fraction of one carry over to machines that nobody measured. All measurements
were made on a processor with AVX-512 (32 registers of 64 bytes) and two cores, each with 1 MiB of
second-level cache. `python -m benchmarks.thresholds NAME` repeats one: it times the kernels that
the number moves, with this value and with others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value", int, float)


@dataclass(frozen=True)
class Threshold:
    """A row of the table."""

    name: str
    value: int | float
    unit: str
    moves: str  # which kernels, and how
    origin: str  # how it was chosen


_rows: list[tuple[int | float, str, str, str]] = []  # the fields of each Threshold, in order


def _row(value: Value, unit: str, moves: str, origin: str) -> Value:
    _rows.append((value, unit, moves, origin))
    return value


# fmt: off
# ---- what is stored, what shares a kernel (schedule/fuse.py) -------------------------------------

PARALLEL_WORK = _row(32, "results",
    "a reduce shares its consumer's kernel only if it has at least this many results",
    "fewer cannot be divided among cores and lanes; a separate kernel divides the reduce itself")
TILED_FROM = _row(32, "products per result",
    "a contraction at least this long, whose results are summed again, has a separate kernel",
    "(512 x k) @ (k x 512), then its sum: below 32, writing and reading the results takes longer")
EMPTY_PLACES = _row(3, "places per element",
    "a sum of windows (a convolution's gradient) shares its consumer's kernel up to this many",
    "empty places are computed too: beyond three, storing is less work, if more memory")
RECOMPUTE_LIMIT = _row(4, "times per element",
    "an elementwise value that one use would compute this often is stored, unless it is cheap",
    "exp of a matrix in front of a product: memory is cheaper from about four times on")
RECOMPUTE_LIMIT_IN_ALL = _row(16, "times per element",
    "the same, for all uses together",
    "a value with a few uses in each of many kernels costs each of them a read instead")
CHEAP = _row(2, "additions",
    "values that cost less are recomputed however often: a scaling is, a relu is not",
    "a product in front of a convolution: reading a scaled copy is no faster than scaling")
CHEAP_WITHOUT_MEMORY = _row(8, "additions",
    "the same, for values made of indices and constants alone (an arange)",
    "recomputing one reads nothing, and a stored copy has to be read")
RECOMPUTE_COST = _row(256, "additions per element",
    "an elementwise value whose repeated computation would cost this much in all is stored",
    "the cell of an LSTM: without this, each step computes those of 16 earlier ones. Three times "
    "layernorm and gelu with their gradient, 1024 x 1024: 16 ms with 256 or 512, 52 without")
AT_HAND = _row(16, "operations",
    "a value that so few compute from what its kernel needs anyway is computed, however costly",
    "the gradient of 60 tanh in a row stores 543 values with 4, 249 with 8, and 52 from 12 on")
LARGEST_KERNEL = _row(1000, "statements, before loops are unrolled",
    "a value that would make a kernel larger is stored; up to three times this (a gradient, and "
    "what it repeats of the forward pass) only if the kernel lacks what it is computed from",
    "a chain of n additions takes gcc 12 on two cores 0.15 s for n = 1000, 0.4 for 4000, 1.3 for "
    "8000, 25 for 20,000: benchmarks.growth adds, with this set to 10**9")

# ---- register tiles and panels (codegen/optimize/plans.py) --------------------------------------

LONG_SUM = _row(64, "products per result",
    "sums of products: below this, most of the time goes into the results, and nothing is copied",
    "the gradient of a layer's weight, batches of 16 to 256: a panel pays from about 64 on")
PANEL_ROWS = _row(32, "rows",
    "sums of products: a panel of columns is copied if at least this many rows read it",
    "products of 8 to 128 rows with 512 x 512: the copy pays from about 32 rows on")
MOST_ROWS = _row(12, "rows of a register tile",
    "sums of products: no tile has more",
    "with two vectors and 32 registers, 12 x 2 accumulators and the operands fit")
USUAL_ROWS = _row(8, "rows of a register tile",
    "sums of products: the height that is tried first, if registers allow",
    "matmul 1024 with 6, 8, 10 and 12 rows: no difference, and 8 divides most sizes")
ROUNDING = _row(0.01, "fraction of the rows",
    "sums of products: this much may be computed twice before another height is chosen",
    "1000 rows in tiles of 6 (0.2 % twice) are as fast as 996")
WIDTH_ROUNDING = _row(0.05, "fraction of the columns",
    "sums of products: this much may be computed twice before a narrower tile is chosen",
    "512 x 512 x 80 to 144: 19 % faster without a third wasted; 784 and 1000: 5 % is best")
PANEL_OF_L2 = _row(0.75, "fraction of the second-level cache",
    "matrix products: a panel of three or four vectors of columns is made only if it fits",
    "512 x k x 960 for k of 512 to 20,000: three quarters, since rows pass through it too")
BLOCK_OF_L2 = _row(0.5, "fraction of the second-level cache",
    "products with a transposed operand: copied rows of one block; weights of a convolution",
    "Aᵀ·B of 1024: half; the other half is for the panel of columns")
NEAR_OF_L2 = _row(0.25, "fraction of the second-level cache",
    "short sums: the operand that all rows read is not copied if it is no larger",
    "the gradient of a layer's weight (784 x 128) for batches of 32 to 256")
LEAST_BLOCK = _row(4, "tiles of rows",
    "products with a transposed operand: fewer are not copied as a block",
    "Aᵀ·B of 256: each panel of columns is copied once per block")
DOTS_LENGTH = _row(32, "vectors",
    "products of two operands contiguous along the sum: lanes run along it from this length on",
    "32 x k x 128 for k of 128 to 4096: summing a vector's lanes pays from about 32 on")
DOTS_ROWS = _row(64, "rows",
    "the same: if more rows reuse it, a panel is better, unless the others are too few for lanes",
    "8 to 64 x 512 to 2048 x 64 to 1024")

# ---- everything else (codegen/optimize/plans.py) ------------------------------------------------

THREADS_FROM = _row(1 << 16, "results or terms of a kernel",
    "every kernel: anything smaller runs on one core",
    "waking another core takes some microseconds, in which one core adds 65,536 numbers")
LONG_TURN = _row(1 << 16, "iterations",
    "loops longer than a launch can count (2**31) go to the cores in turns of this many",
    "any number that keeps a core busy for longer than it takes to hand out")
BLOCK_ROWS = _row(16, "rows",
    "transposes are copied in blocks of this many rows and a vector of columns",
    "a cache line holds 16 floats")
NARROWEST_VECTOR = _row(4, "lanes",
    "axes shorter than a vector: shorter vectors, down to this many lanes",
    "rows of 2 to 8 floats: two lanes gain nothing")
SUMS_AT_ONCE = _row(2, "rows",
    "a reduce along each row: this many rows side by side (more for large arrays)",
    "two keep the adders busy if the rows are in a cache")
COLUMNS_AT_ONCE = _row(4, "vectors",
    "a reduce down columns: this many side by side (more for large arrays)",
    "four keep the adders busy if the rows are in a cache")
SCANS_AT_ONCE = _row(8, "rows, or vectors of columns",
    "a running sum: this many side by side, since each addition waits for the one before",
    "1000 x 1000, both ways: an addition takes 4 cycles, and two can begin in each")

# ---- blocks of threads (gpu/plans.py) -------------------------------------------

BLOCK_THREADS = _row(256, "threads",
    "every kernel on a GPU: no block has more",
    "CUDA C++ Best Practices Guide, Thread and Block Heuristics: whole warps, 128 to 256 to begin "
    "with; no GPU was at hand to measure it")
PIECE = _row(32, "bytes",
    "every kernel on a GPU: threads run along the loop that moves the fewest such pieces",
    "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory: transactions of 32 bytes")
MANY_THREADS = _row(1 << 14, "threads",
    "fewer results do not keep a GPU busy: threads share each reduce, and none has several results",
    "64 multiprocessors with a block of 256 each; the same guide asks for more than one block each")
FILLING_BLOCKS = _row(128, "blocks",
    "sums of products: a smaller tile is chosen if there would be fewer; shared sums: a block then "
    "has threads for fewer results",
    "a large GPU has 100 to 150 multiprocessors, and a block runs on one of them")
RESULTS_OF_REGISTERS = _row(0.5, "fraction of a thread's registers",
    "sums of products: this many hold results",
    "products of 4096 x 4096 on an H200, by hand in CUDA: 16 x 8 results a thread 0.96 of cuBLAS, "
    "8 x 8 of them 0.90, though two blocks fit on a multiprocessor then (docs/gpu.md)")
PANEL_STEP = _row(8, "products per result",
    "sums of products: this much of the sum passes through the panels at a time",
    "the same products with two panels: 0.90 of cuBLAS, but 0.65 with 16, which waits for 151 "
    "registers a thread instead of 126")
READS_IN_FLIGHT = _row(8, "vectors",
    "panels on a GPU: a thread reads this many before it stores the first",
    "Volkov, Better performance at lower occupancy (2010): 4 to 8 independent reads of 16 bytes a "
    "thread hide the latency of memory")
PANELS_OF_SHARED = _row(0.9, "fraction of a block's shared memory",
    "sums of products: tiles and steps with larger panels are not chosen",
    "the same products in float16, with 128 x 256 results a block: three panels of 64 terms, "
    "156 of an H200's 227 KB, 0.40 to 0.45 of cuBLAS, and 0.39 with panels of half that")
LEAST_TILE = _row(4, "rows and columns",
    "sums of products: no panels for a tile with fewer of either",
    "each element of a panel is then read at least four times")
SHARED_READS = _row(8, "reads of shared memory",
    "sums that threads share: this many take as long as one read of memory, which decides how many "
    "threads share a sum",
    "CUDA C++ Best Practices Guide: some hundred cycles for memory, some 30 for shared memory; "
    "several reads of memory are in flight at once")
READS_AT_ONCE = _row(4, "reads per thread",
    "sums that threads share: so many elements or vectors are read before the first is added",
    "Volkov, Better performance at lower occupancy (2010): bytes in flight = latency x bandwidth "
    "(Little's law). An H200 needs 4.8 TB/s x 700 ns, 25 KB for each of 132 multiprocessors: 4 "
    "vectors of 16 bytes for 400 threads, while 2048 fit")
SHARED_PARTS = _row(64, "threads",
    "sums that so many threads share: they also share adding up their partial results",
    "twice 8 additions and a barrier instead of 64; 16 threads would save 8 and wait as long")
LEAST_SHARED = _row(32, "elements",
    "sums on a GPU: threads do not share shorter ones; parts of running sums are not shorter",
    "a warp that reads this many consecutive floats reads one line of 128 bytes")
SQUARE = _row(32, "rows and columns",
    "transposes on a GPU: the side of the square that a block copies",
    "Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA (2009): 32, a warp's threads")

# ---- reduces in two kernels (schedule/partial.py) -----------------------------------------------

LARGE_REDUCE = _row(1 << 21, "elements reduced",
    "reduces on cores to fewer results than MANY_RESULTS: two kernels, for any number of cores",
    "the sum of 2**18 to 2**24 floats on two cores: a second kernel pays from 2 MiB on")
MANY_RESULTS = _row(32, "results",
    "from this many on, cores share the results and not each sum",
    "enough work for 8 cores, with a tail of at most an eighth")
PARTS = _row(256, "partial results",
    "the same reduces: the most for each result",
    "enough for any number of cores, and read in no time")
LEAST_PARTS = _row(16, "partial results",
    "the same reduces: a size that only fewer parts divide stays in one kernel",
    "fewer leave cores idle on a machine with many")
LONG_FOR_A_THREAD = _row(128, "elements per thread of a block",
    "reduces on a GPU to fewer results than FILLING_BLOCKS: several blocks share longer ones",
    "a thread waits some hundred cycles for each of 32 vectors (CUDA C++ Best Practices Guide), in "
    "all longer than the few microseconds that launching another kernel takes")
FEW_WRITERS = _row(64, "threads",
    "ordered stores on a GPU: with fewer elements beside the axis of the places, threads share the "
    "values; otherwise they share the places",
    "two warps: fewer threads leave most of even one multiprocessor idle; not measured yet")
LEAST_WALKERS = _row(8, "times as many threads",
    "ordered stores on a GPU: places are divided among threads only if that gives so many more",
    "each of them still reads the index of every value, which takes about as long as a few values")
LOOKED_AT = _row(1 << 26, "comparisons",
    "the same, of few elements: each element looks for its values among all if that takes no more",
    "ten instructions each, of the 3e13 in a second of 132 multiprocessors: 20 microseconds, in "
    "which a thread adds 100 values to partial results; not measured yet")
MEMORY_OF_PARTS = _row(8, "times the values",
    "the same, in partial results: they take at most so much memory",
    "a million values: 32 MB, which are filled and added up in 15 microseconds at 4 TB/s")
LEAST_READS = _row(16, "elements per thread of a block",
    "the same reduces: a part has at least this many",
    "four vectors, which are in flight at the same time; fewer take as long")
BLOCKS_OF_PARTS = _row(1024, "blocks",
    "the same reduces: the most that compute partial results, for all results together; running "
    "sums and ordered stores have as many parts as these have threads",
    "eight for each of FILLING_BLOCKS: 256 threads each are the 2048 that a multiprocessor runs at "
    "once (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)")
LONG_SCAN = _row(1 << 15, "elements",
    "running sums on cores, of fewer rows than run side by side: longer ones are cut into parts",
    "2**12 to 2**20 floats: below, two more kernels take longer than they save")
PART_OF_WINDOWS = _row(512, "products per partial result",
    "the gradient of a convolution's weight: a part has at least this many",
    "64 x 32 x 28 x 28 and 3 x 3: one image (784 places) at a time")
FEW_SUMS = _row(1 << 16, "results",
    "long products of two matrices: with more results, sums are not cut into parts",
    "64 x 16384 x 64 gains a third, 512 x 4096 x 512 loses")
LONG_PRODUCT = _row(4096, "products per result",
    "the same: shorter sums are not cut into parts",
    "64 x k x 64 for k of 1024 to 65536")
PART_OF_PRODUCT = _row(1024, "products per partial result",
    "the same: a part has at least this many",
    "64 x 16384 x 64 in parts of 256 to 8192")

# ---- preparing the graph (schedule/kernels.py) --------------------------------------------------

TRANSPOSED_FROM = _row(512, "rows, columns and products, each",
    "products of two operands, neither contiguous along the sum: a kernel transposes one of them",
    "Aᵀ·B of 512, 1024, 2048 with blocks of rows instead: 16, 0 and 16 % slower")

# ---- code (codegen/) ----------------------------------------------------------------------------

MOST_COPIES = _row(256, "copies of a statement",
    "UPCAST and UNROLL refuse to make more",
    "more than any processor's registers hold only slow down the C compiler")
SHORTER_BY = _row(0.125, "fraction of a loop's iterations",
    "a loop whose terms are 0 from some iteration on ends there, if that saves at least this many",
    "convolution of stride 2 by its input: 58 % faster; padding would save 0.01")
MOST_ADDITIONS = _row(128, "additions to one accumulator",
    "longer float sums are computed in blocks, so that rounding errors stay small",
    "the length of a block in NumPy's pairwise sum; a matmul is no slower for it")
LONG_BLOCK = _row(32, "additions",
    "no loop is cut if the blocks are at least this long without that",
    "a quarter of MOST_ADDITIONS: shorter blocks would cost an extra addition every few")
# fmt: on

_names = [name for name in list(globals()) if name.isupper()]
TABLE = {name: Threshold(name, *row) for name, row in zip(_names, _rows, strict=True)}
