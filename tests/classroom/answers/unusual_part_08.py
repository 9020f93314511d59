"""Part 8, the twelve GPU puzzles, and mini's stages 8 and 7c: answers of a backend engineer who
once read a CUDA tutorial.

The verdicts were written before anything was run. "(I had said …)" marks those that changed.
"""

MENDED_WORDS = """
class Words(Words):
    def copyout(self, dst, src):
        dst[:] = memoryview(src).cast("B")[: len(dst)]
"""
MENDED_SNAKE = """
class Snake(Snake):
    type_names = {**Snake.type_names, dtypes.ushort: "uint16"}
    code_for_op = {
        **Snake.code_for_op,
        Ops.CMOD: "({0} - quotient({0}, {1}) * {1})".format,
        Ops.WHERE: "({1} if {0} else {2})".format,
    }

    def write(self, place, value, condition):
        return f"if {condition}: {place} = {value}"
"""

ANSWERS = [
    # ---- 8a -------------------------------------------------------------------------------------
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    one, other = one.copy(), other.copy()
    out = (ctypes.c_float * one.size)()
    function(out, address(one), address(other), ctypes.c_float(t), ctypes.c_long(one.size))
    return np.array(out).reshape(one.shape)
""",
        "right",
        "memory of ctypes' own; copy() puts things in order",
    ),
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), out.size)
    return out
""",
        "wrong",
        "right only if all three lie in the same order: empty_like keeps that of `one`",
    ),
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    one, other = one + 0, other + 0
    out = np.empty(one.shape, np.float32)
    function(address(out), address(one), address(other), ctypes.c_float(t), out.size)
    return out
""",
        "wrong",
        "a new array, but in the old order",
    ),
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    n = np.prod(one.shape)
    one, other = map(np.ascontiguousarray, (one, other))
    function(address(out), address(one), address(other), ctypes.c_float(t), n)
    return out
""",
        "wrong",
        "a NumPy number for n, which ctypes doesn't take",
    ),
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    flat = [np.array(x, np.float32).ravel() for x in (one, one, other)]
    function(*map(address, flat), ctypes.c_float(t), len(flat[0]))
    return flat[0].reshape(one.shape)
""",
        "right",
        "three flat rows; the first is overwritten, and is a copy",
    ),
    (
        "call-c-by-hand",
        """
def fade(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    def at(array):
        return address(np.ascontiguousarray(array))
    function(address(out), at(one), at(other), ctypes.c_float(t), out.size)
    return out
""",
        "wrong",
        "the copies are gone before C begins",
    ),
    ("two-sums-apart", "np.r_[2.0**24, np.ones(30), -(2.0**24)]", "right", "np.r_"),
    ("two-sums-apart", "(x for x in [2**25] + [1] * 30 + [-(2**25)])", "right", "a generator"),
    ("two-sums-apart", "Tensor([2**24, *[1] * 30, -(2**24)])", "right", "a Tensor of mini"),
    ("two-sums-apart", "[1e8, *[3.0] * 20, -1e8]", "right", "22 of them: not all fill eight rows"),
    ("two-sums-apart", "[2**24, -(2**24), *[1] * 30]", "wrong", "C says 30, too"),
    ("programs-of-trainings", "[1.0, 5.0, 1.0]", "right", "floats in a list"),
    ("programs-of-trainings", "(1, 5)", "asked again", "two numbers for three"),
    (
        "a-name-for-work",
        """
import hashlib
def name(sink):
    place, said = {}, []
    for node in sink.toposort():
        what = node.shape if node.op is Ops.BUFFER else node.arg
        said.append((node.op.name, tuple(place[s] for s in node.src), what))
        place[node] = len(place)
    return hashlib.sha256(repr(said).encode()).hexdigest()
""",
        "right",
        "a digest that is the same in each process",
    ),
    (
        "a-name-for-work",
        """
def name(sink):
    seen = {}
    def said(node):
        if node in seen:
            return f"#{seen[node]}"
        inside = ",".join(map(said, node.src))
        seen[node] = len(seen)
        what = node.shape if node.op is Ops.BUFFER else node.arg
        return f"{node.op.name}({inside}|{what!r})"
    return said(sink)
""",
        "right",
        "nested, with #3 for what was there already",
    ),
    (
        "a-name-for-work",
        """
def name(sink):
    number = {node: n for n, node in enumerate(sink.toposort())}
    lines = []
    for node in number:
        what = node.shape if node.op is Ops.BUFFER else node.arg
        sources = "".join(str(number[s]) for s in node.src)
        lines.append(f"{node.op.name} {sources} {what!r}")
    return "; ".join(lines)
""",
        "wrong",
        "nothing between the numbers: 1 and 12 look like 11 and 2",
    ),
    (
        "a-name-for-work",
        """
import json
def name(sink):
    number = {node: n for n, node in enumerate(sink.toposort())}
    return json.dumps([
        [u.op.name, [number[s] for s in u.src], list(u.shape) if u.op is Ops.BUFFER else u.arg]
        for u in number
    ], default=str)
""",
        "right",
        "JSON",
    ),
    ("paint-in-c", "lambda x, y: x + y + x + y + x + y + x + y + x + y + x", "right", "ten ADDs"),
    (
        "paint-in-c",
        "lambda x, y: (x * 9).log() * (y * 9 + x).exp() - x * y * x * y",
        "wrong",
        "NaN",
    ),
    (
        "paint-in-c",
        "lambda x, y: sum(((x - n / 9) * (x - n / 9) + y * y < 0.02) * n for n in range(4))",
        "right",
        "sum() starts with 0; comparisons are numbers",
    ),
    # ---- 8b -------------------------------------------------------------------------------------
    (
        "a-runner",
        """
from time import perf_counter_ns
class SnakeRunner(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)
    def __call__(self, *bufs, vals=(), wait=False, **sizes):
        before = perf_counter_ns()
        self.function(*[*bufs, *map(int, vals)])
        return wait and (perf_counter_ns() - before) / 1e9
""",
        "right",
        "nanoseconds, and False where nobody asked",
    ),
    (
        "a-runner",
        """
from time import process_time
class SnakeRunner(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        before = process_time()
        self.function(*bufs, *vals)
        if wait:
            return process_time() - before
""",
        "wrong",
        "a clock that stands still while the kernel sleeps",
    ),
    ("without-max", "lambda x, y: ((x < y) | y.isnan()).where(y, x)", "right", "isnan"),
    (
        "without-max",
        "lambda x, y: (x > y).where(x, (y >= x).where(y, float('nan')))",
        "right",
        "a third case, for what can't be compared",
    ),
    ("without-max", "lambda x, y: ((x < y) + (y != y)).where(y, x)", "right", "+ for |"),
    ("without-max", "lambda x, y: (~(x >= y)).where(y, x)", "wrong", "x is NaN, and y is chosen"),
    ("without-max", "lambda x, y: (x < y).where(y, x) + (x + y) * 0", "wrong", "inf * 0"),
    ("without-max", "lambda x, y: -((-x).minimum(-y))", "wrong", "a MAX in disguise"),
    (
        "five-broken-places",
        """
class MendedWords(Words):
    def copyout(self, dst, src):
        dst[:] = src.tobytes()[: len(dst)]
class MendedSnake(Snake):
    type_names = Snake.type_names | {dtypes.ushort: "uint16"}
    code_for_op = Snake.code_for_op | {
        Ops.CMOD: "({0} - {1} * quotient({0}, {1}))".format,
        Ops.WHERE: "({0} and [{1}] or [{2}])[0]".format,
    }
    def write(self, place, value, condition):
        return f"if ({condition}): {super().write(place, value, condition)}"
""",
        "right",
        "the old trick for `and or`: a list is never false",
    ),
    (
        "five-broken-places",
        """
class MendedWords(Words):
    def copyout(self, dst, src):
        dst[:] = src.tobytes()[: len(dst)]
class MendedSnake(Snake):
    type_names = Snake.type_names | {dtypes.ushort: "uint16"}
    code_for_op = Snake.code_for_op | {
        Ops.CMOD: "({0} - {1} * quotient({0}, {1}))".format,
        Ops.WHERE: "({1} if {0} else {2})".format,
    }
    def write(self, place, value, condition):
        return f"{place} = {value} if {condition} else {place}"
""",
        "wrong",
        "it reads a place that isn't there",
    ),
    ("addition-far-away", "'from millions'", "asked again", "two words"),
    (
        "cost-of-a-launch",
        """
def launch_and_each(sizes, seconds):
    n, s = np.array(sizes), np.array(seconds)
    return np.linalg.lstsq(np.c_[1 / s, n / s], np.ones(len(s)), rcond=None)[0]
""",
        "right",
        "least squares of the percents",
    ),
    (
        "cost-of-a-launch",
        """
def launch_and_each(sizes, seconds):
    each = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    return seconds[0] - each * sizes[0], each
""",
        "wrong",
        "the two smallest: nothing but noise",
    ),
    (
        "a-device-with-a-meter",
        MENDED_WORDS
        + MENDED_SNAKE
        + """
class Metered(Compiled):
    def __init__(self, device):
        self.sizes = sizes = []
        class Noting(Words):
            def _alloc(self, size, options):
                sizes.append(size)
                return super()._alloc(size, options)
        super().__init__(device, Noting(), Snake(), Compiler(), runner)
    def meter(self):
        return sum(self.sizes), max(self.sizes, default=0)
""",
        "right",
        "bytes handed out, and the largest piece",
    ),
    (
        "a-device-with-a-meter",
        MENDED_WORDS
        + MENDED_SNAKE
        + """
class Metered(Compiled):
    def __init__(self, device):
        self.busy = 0.0
        def load(name, lib):
            run = runner(name, lib)
            def timed(*bufs, **given):
                before = perf_counter()
                try:
                    return run(*bufs, **given)
                finally:
                    self.busy += perf_counter() - before
            return timed
        super().__init__(device, Words(), Snake(), Compiler(), load)
        self.meter = lambda: f"{self.busy:.9f} s"
""",
        "right",
        "seconds in kernels; meter is an attribute of the object",
    ),
    (
        "a-device-with-a-meter",
        MENDED_WORDS
        + MENDED_SNAKE
        + """
class Metered(Compiled):
    def __init__(self, device):
        self.names = []
        super().__init__(device, Words(), Snake(), Compiler(), runner)
    @property
    def meter(self):
        return self.names
""",
        "wrong",
        "a property, and nobody fills it",
    ),
    # ---- 8c -------------------------------------------------------------------------------------
    ("gpu-in-turns", "8 // 2", "right", "computed"),
    ("gpu-in-turns", "'the upper half'", "asked again", "words"),
    ("gpu-lines", "np.array([2, 4, 1])", "right", "an array"),
    (
        "gpu-three-faults",
        '''"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = i < n ? a[i] : -INFINITY;
__syncthreads();
for (unsigned half = 8; half; half >>= 1) {
  if (t < half) s[t] = fmaxf(s[t], s[t + half]);
  __syncthreads();
}
if (!t) out[blockIdx.x] = *s;
"""''',
        "right",
        "filled with minus infinity, shifted, unsigned",
    ),
    (
        "gpu-three-faults",
        '''"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = a[min(i, n - 1)];
__syncwarp();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) s[t] = max(s[t], s[t + half]);
  __syncwarp();
}
if (t == 0) out[blockIdx.x] = s[0];
"""''',
        "wrong",
        "right in CUDA, but the lesson's barrier is a different one",
    ),
    (
        "gpu-three-faults",
        '''"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
if (i >= n) return;
s[t] = a[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half && i + half < n) s[t] = max(s[t], s[t + half]);
  __syncthreads();
}
if (t == 0) out[blockIdx.x] = s[0];
"""''',
        "wrong",
        "a return before the barrier",
    ),
    (
        "gpu-transpose",
        '''"""
__shared__ float tile[32 * 33];
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
bool there = x < columns && y < rows;
tile[threadIdx.y * 33 + threadIdx.x] = there ? a[x + y * columns] : 0;
__syncthreads();
int r = blockIdx.y * 32 + threadIdx.x, c = blockIdx.x * 32 + threadIdx.y;
if (c < columns && r < rows) out[c * rows + r] = tile[threadIdx.x * 33 + threadIdx.y];
"""''',
        "right",
        "a flat tile with a gap",
    ),
    ("puzzle-map", "'out[threadIdx.x] = 1e1 + a[blockIdx.x * 99 + threadIdx.x];'", "right", "1e1"),
    (
        "puzzle-map",
        "'if (!threadIdx.x) for (int i = 0; i < blockDim.x; i++) out[i] = a[i] + 10;'",
        "wrong",
        "one thread does it all",
    ),
    ("puzzle-map", "'a[threadIdx.x] += 10;'", "wrong", "a is const"),
    (
        "puzzle-guard",
        "'int i = min(threadIdx.x, n - 1);\\nout[i] = a[i] + 10;'",
        "right",
        "some do the last one again, and write the same; more loads than par",
    ),
    (
        "puzzle-guard",
        "'int i = threadIdx.x;\\ni < n && (out[i] = a[i] + 10);'",
        "right",
        "&& for if",
    ),
    (
        "puzzle-two_d",
        "'int i = threadIdx.y * 4 + threadIdx.x;\\nif (i < rows * columns) out[i] = a[i] + 10;'",
        "right",
        "16 threads in a row, whatever the shape",
    ),
    (
        "puzzle-broadcast",
        "'int x = threadIdx.x, y = threadIdx.y;\\n"
        "if (x < columns && y < rows) out[y * columns + x] = a[x] + b[y];'",
        "wrong",
        "a and b are swapped",
    ),
    (
        "puzzle-shared",
        '''"""
__shared__ float s[8], total;
int t = threadIdx.x, i = blockIdx.x * 8 + t;
s[t] = i < n ? a[i] : 0;
__syncthreads();
if (t == 0) { total = 0; for (float x : s) total += x; }
__syncthreads();
if (i < n) out[i] = s[t] / total;
"""''',
        "asked again",
        "a range-based for, which the emulator can't watch (I had said right)",
    ),
    (
        "puzzle-dot",
        '''"""
__shared__ float s[16];
int i = threadIdx.x;
if (i < n) s[i] = a[i] * b[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
if (i == 0) out[0] = s[0];
"""''',
        "wrong",
        "nobody fills up what's beyond n",
    ),
    (
        "puzzle-dot",
        '''"""
__shared__ float s[16], q[4];
int i = threadIdx.x;
s[i] = i < n ? a[i] * b[i] : 0;
__syncthreads();
if (i < 4) q[i] = s[i] + s[i + 4] + s[i + 8] + s[i + 12];
__syncthreads();
if (i == 0) out[0] = q[0] + q[1] + q[2] + q[3];
"""''',
        "right",
        "a tree of two rounds, by fours",
    ),
    (
        "puzzle-prefix_sum",
        '''"""
__shared__ float s[2][32];
int i = threadIdx.x, p = 0;
s[0][i] = i < n ? a[i] : 0;
__syncthreads();
for (int far = 1; far < 32; far *= 2, p = 1 - p) {
  s[1 - p][i] = s[p][i] + (i >= far ? s[p][i - far] : 0);
  __syncthreads();
}
if (i < n) out[i] = s[p][i];
"""''',
        "right",
        "two rows in turns, with one barrier a round",
    ),
    (
        "puzzle-axis_sum",
        '''"""
__shared__ float s[16];
int i = threadIdx.x, each = (columns + 15) / 16;
const float* row = a + blockIdx.x * columns;
float sum = 0;
for (int k = i * each; k < min(columns, (i + 1) * each); k++) sum += row[k];
s[i] = sum;
for (int half = 8; half; half /= 2) {
  __syncthreads();
  if (i < half) s[i] += s[i + half];
}
if (!i) *(out + blockIdx.x) = s[0];
"""''',
        "right",
        "each thread has a piece of its own; a pointer to the row",
    ),
    (
        "puzzle-tiled_matmul",
        '''"""
__shared__ float at[4][4], bt[4][4];
int x = threadIdx.x, y = threadIdx.y;
int row = blockIdx.y * 4 + y, column = blockIdx.x * 4 + x;
float sum = 0;
for (int k = 0; k < n; k += 4) {
  at[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
  bt[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
  __syncthreads();
  for (int j = 0; j < 4; j++) sum += at[y][j] * bt[j][x];
}
if (row < n && column < n) out[row * n + column] = sum;
"""''',
        "wrong",
        "one barrier: the next piece comes while somebody still reads",
    ),
]

MINI = [
    # ---- stage 8 --------------------------------------------------------------------------------
    (
        "8",
        "CRunner.__init__",
        """
def __init__(self, lines):
    name, self.source = render(lines)
    self.function = getattr(ctypes.CDLL(str(compiled(self.source))), name)
""",
        "wrong",
        "the docstring wants the text in self.text",
    ),
    (
        "8",
        "CRunner.__call__",
        """
def __call__(self, *arrays):
    self.function(*[a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays])
""",
        "right",
        "pointers to floats",
    ),
    (
        "8",
        "PythonRunner.__call__",
        """
def __call__(self, *arrays):
    values = {}

    def value(node):
        return node.arg if node.op is Ops.CONST else values[node]

    def memory(node):
        array, place = values[node.src[0]], value(node.src[1])
        if place < 0:
            raise IndexError(f"there is no element {place}")
        return array, place

    def run(lines):
        while lines:
            node, lines = lines[0], lines[1:]
            match node.op:
                case Ops.RANGE:
                    end = next(n for n, line in enumerate(lines)
                               if line.op is Ops.ENDRANGE and line.src[0] is node)
                    for values[node] in range(node.arg[1]):
                        run(lines[:end])
                    lines = lines[end + 1:]
                case Ops.DEFINE_GLOBAL:
                    values[node] = arrays[node.arg[0]].ravel()
                case Ops.DEFINE_REG:
                    first = 0 if node.src[0].arg is Ops.ADD else -np.inf
                    values[node.src[0]] = np.float32(first)
                case Ops.REDUCE:
                    values[node] = ALU[node.arg](values[node], value(node.src[0]))
                case Ops.LOAD:
                    array, place = memory(node)
                    values[node] = array[place]
                case Ops.STORE:
                    array, place = memory(node)
                    array[place] = value(node.src[2])
                case op:
                    kind = {float: np.float32}.get(node.dtype, node.dtype)
                    values[node] = kind(ALU[op](*map(value, node.src)))

    run(list(self.lines))
""",
        "right",
        "loops as Python's own loops, by recursion; NumPy raises the other IndexError",
    ),
    (
        "8",
        "numbered",
        """
def numbered(sink):
    arrays = {}
    for node in sink.toposort():
        if node.op is Ops.BUFFER:
            slot = UOp(Ops.DEFINE_GLOBAL, (), (len(arrays), node.shape))
            sink, arrays[slot] = substitute(sink, {node: slot}), node.arg.data
    return sink, arrays
""",
        "right",
        "one after the other",
    ),
    (
        "8",
        "numbered",
        """
def numbered(sink):
    buffers = sorted((n for n in sink.toposort() if n.op is Ops.BUFFER), key=lambda n: n.shape)
    slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
    return substitute(sink, slots), {slots[b]: b.arg.data for b in buffers}
""",
        "wrong",
        "by shape; the docstring wants toposort's order, and says why by example only",
    ),
    (
        "8",
        "call",
        """
def call(sink, memory, device):
    kernels, results = plan(sink, device)
    memory = {**memory, **{m: np.zeros(m.arg[1], "f4") for _, m, _ in kernels}}
    for function, _, arguments in kernels:
        function(*map(memory.get, arguments))
    return list(map(memory.__getitem__, results))
""",
        "right",
        "all memory first, and nobody's dict is changed",
    ),
    (
        "8",
        "replay",
        """
def replay(tape, tensors, state, device):
    memory = tape["memory"]
    memory.update((s, t.uop.arg.data) for s, t in zip(tape["slots"], tensors) if s is not None)
    results = call(tape["sink"], memory, device)
    out, *new = [Tensor(results[place]) for place in tape["places"]]
    for tensor, fresh in zip(state, new):
        tensor.uop = fresh.uop
    return out
""",
        "right",
        "in the tape's own dict: all that changes is put there anew each time",
    ),
    # ---- stage 7c -------------------------------------------------------------------------------
    (
        "7c",
        "split",
        """
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    many, rest = divmod(old.arg[1], size)
    if rest:
        raise ValueError(f"{rest} would be left over")
    outer = UOp(Ops.RANGE, (), (number, many, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    reduces = [n for n in program.toposort() if n.op is Ops.REDUCE and old in n.src[1:]]
    for node in reduces:
        both = [s for s in node.src[1:] if s is not old] + [outer, inner]
        new = UOp(Ops.REDUCE, (node.src[0], *both), node.arg)
        program = substitute(program, {node: new})
    return simplify(substitute(program, {old: outer * size + inner})), inner
""",
        "right",
        "REDUCEs first, then the counter; the new counters at the end",
    ),
    (
        "7c",
        "upcast",
        """
def upcast(program, number, size):
    program, inner = split(program, number, size)
    stores = [substitute(s, {inner: UOp.const(inner, n)}) for n in range(size) for s in program.src]
    return simplify(program).__class__(Ops.SINK, tuple(map(simplify, stores)))
""",
        "right",
        "copies in a different order, each simplified by itself",
    ),
    (
        "7c",
        "reorder",
        """
def reorder(program, *numbers):
    ranges = counters(program)
    for new, old in zip(sorted(numbers), numbers):
        moved = UOp(Ops.RANGE, (), (new, *ranges[old].arg[1:]))
        program = substitute(program, {ranges[old]: moved})
    return program
""",
        "wrong",
        "one after the other: two loops of one size become one",
    ),
]
