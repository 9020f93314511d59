"""All parts, by two newcomers: answers that were right and refused, or wrong and accepted.

The verdicts were written before the checks were mended. "(I had said …)" marks those that changed.
"""

from tests.classroom.answers.unusual_part_08 import MENDED_SNAKE, MENDED_WORDS

METERED = """
class Metered(Compiled):
    def __init__(self, device):
        self.count = 0
        super().__init__(device, Words(), Snake(), Compiler(), self.load)

    def meter(self):
        return self.count

    def load(self, name, lib):
        self.count += 1
        return runner(name, lib)
"""
ANSWERS = [
    # ---- 2 ---------------------------------------------------------------------------------------
    (
        "steps-kernels-run",
        """
def kernels_run(run):
    run()
    GlobalCounters.reset()
    run()
    return GlobalCounters.kernel_count
""",
        "wrong",
        "a warm-up: what it was given to run once has run twice",
    ),
    (
        "steps-slowest-kernel",
        """
def slowest(run):
    run()
    times = Times()
    with observing(times):
        run()
    return max(times.kernels, key=lambda kernel: kernel[1])[0]
""",
        "right",
        "a warm-up before a clock is good practice, and the name is the same",
    ),
    # ---- 3 ---------------------------------------------------------------------------------------
    (
        "tensors-disc",
        """
def disc(n):
    i = Tensor.arange(n) - n // 2
    return i[:, None] ** 2 + i**2 <= (n / 3) ** 2
""",
        "wrong",
        "a point at exactly n / 3 isn't closer than that, and of 9 x 9 points four are there",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    i = Tensor.arange(n) - n // 2
    return (i[:, None] ** 2 + i**2).sqrt() < n / 3
""",
        "right",
        "with the root: those of squares are exact",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    i = (Tensor.arange(n) - n // 2) * 3
    return i[:, None] ** 2 + i**2 < n * n
""",
        "right",
        "in whole numbers",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    i = (Tensor.arange(n) - n // 2) / n
    return i[:, None] ** 2 + i**2 < (1 / 3) ** 2
""",
        "right",
        "as parts of the picture: of 9 points, 3/9 is the float that 1/3 is",
    ),
    (
        "tensors-primes",
        """
def primes(n):
    divisors = Tensor.arange(1, n + 1)[:, None]
    numbers = Tensor.arange(n)
    return (numbers % divisors == 0).sum(axis=0) == 2
""",
        "wrong",
        "for n = 2 there are two divisors, and both divide 0",
    ),
    (
        "tensors-primes",
        """
def primes(n):
    divisors, numbers = Tensor.arange(1, n + 1)[:, None], Tensor.arange(n)
    return ((numbers % divisors == 0) & (divisors <= numbers)).sum(axis=0) == 2
""",
        "right",
        "no divisor is larger than the number, so 0 has none",
    ),
    (
        "tensors-primes",
        """
def primes(n):
    numbers = Tensor.arange(n)
    proper = Tensor.arange(1, n + 1)[:, None] + 1
    divided = (numbers % proper == 0) & (proper < numbers)
    return (divided.sum(axis=0) == 0) & (numbers > 1)
""",
        "right",
        "no proper divisor",
    ),
    # ---- 7c --------------------------------------------------------------------------------------
    (
        "fast-own-plan",
        """
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    if any(x.step(r) == -1 for r in k.around for x in k.table.reads):
        return Nest(tiles=((OptOps.VECTOR, k.around[0], k.lanes),))
    return None
""",
        "wrong",
        "the right kernels, and vectors along whichever loop comes first",
    ),
    (
        "fast-own-plan",
        """
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    r = k.around[-1]
    if any(x.step(r) == -1 for x in k.table.reads):
        return Nest(tiles=((OptOps.VECTOR, r, k.lanes),))
""",
        "wrong",
        "only looks at the last loop; of a transposed picture it's the first that goes backwards",
    ),
    (
        "fast-own-plan",
        """
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    backwards = [r for x in k.table.reads for r in k.around if x.step(r) == -1]
    if backwards:
        return Nest(tiles=((OptOps.VECTOR, backwards[-1], k.lanes),))
""",
        "right",
        "the last of such loops, and nothing says which",
    ),
    (
        "fast-opts-for-any-shape",
        """
def opts_for(m, n):
    vectors = -(-n // 8)
    fits = [(h, w) for h in range(1, m + 1) for w in range(1, vectors + 1) if h * w + w + 2 <= 16]
    h, w = min(fits, key=lambda t: -(-m // t[0]) * -(-vectors // t[1]) * sum(t))
    tile = [Opt(OptOps.UPCAST, axis, size) for axis, size in ((1, w), (0, h)) if size > 1]
    return [Opt(OptOps.VECTOR, 1, 8), *tile]
""",
        "right",
        "7.22's own formula: with a register for the compiler to juggle with",
    ),
    # ---- 8b --------------------------------------------------------------------------------------
    (
        "a-device-with-a-meter",
        METERED,
        "wrong",
        "a relu is wrong on it, and it's to compute correctly",
    ),
    (
        "a-device-with-a-meter",
        MENDED_WORDS + METERED,
        "wrong",
        "the memory is mended, and the language isn't",
    ),
    (
        "a-device-with-a-meter",
        MENDED_SNAKE + METERED,
        "wrong",
        "the language is mended, and the memory isn't",
    ),
    (
        "a-device-with-a-meter",
        MENDED_WORDS + MENDED_SNAKE + METERED,
        "right",
        "what's mended, and every kernel that is loaded counts",
    ),
    (
        "a-device-with-a-meter",
        """
class Metered(Compiled):
    def __init__(self, device):
        self.count, cpu = 0, Device["CPU"]
        super().__init__(device, cpu.allocator, cpu.renderer, cpu.compiler, self.load)

    def meter(self):
        return self.count

    def load(self, name, lib):
        self.count += 1
        return Device["CPU"].runner(name, lib)
""",
        "right",
        "everything from the CPU, with a counter in between",
    ),
    # ---- 8c --------------------------------------------------------------------------------------
    (
        "puzzle-dot",
        '''dot = """
__shared__ float s[16];
int i = threadIdx.x;
s[i] = i < n ? a[i] * b[i] : 0;
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
out[0] = s[0];
"""''',
        "wrong",
        "sixteen threads write one element, where one is enough",
    ),
    (
        "puzzle-axis_sum",
        '''axis_sum = """
__shared__ float s[16];
int i = threadIdx.x;
float own = 0;
for (int k = i; k < columns; k += 16) own += a[blockIdx.x * columns + k];
s[i] = own;
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
out[blockIdx.x] = s[0];
"""''',
        "wrong",
        "the same in every block",
    ),
    # ---- 10 --------------------------------------------------------------------------------------
    (
        "who-made-it",
        """
def who_made(node, passes):
    found = None
    for each in passes:
        for step in each.steps:
            if node in step.after.toposort() and node not in step.before.toposort():
                found = step
    return found
""",
        "wrong",
        "the last such step, where the first is asked for",
    ),
    (
        "puzzle-witness",
        """
class Seen(Observer):
    def __init__(self):
        self.names = []
    def ran(self, work):
        if work.spec:
            self.names.append(work.spec.name)

def names(job):
    job()
    with observing(Seen()) as seen:
        job()
    return seen.names
""",
        "wrong",
        "a warm-up: what it was given to run once has run twice",
    ),
    # ---- 11a -------------------------------------------------------------------------------------
    (
        "fair-comparison",
        """
def compare(old, new, clock):
    def turn(run):
        begin = clock()
        for _ in range(500):
            run()
        return clock() - begin
    for _ in range(20):
        old(), new()
    pairs = [(turn(old), turn(new)) for _ in range(9)]
    return min(a for a, _ in pairs) / min(b for _, b in pairs)
""",
        "wrong",
        "the best of nine: on two days of three it's right, and then it isn't",
    ),
    (
        "fair-comparison",
        """
def compare(old, new, clock):
    def turn(run):
        begin = clock()
        for _ in range(300):
            run()
        return clock() - begin
    for _ in range(20):
        old(), new()
    return median(turn(old) / turn(new) for _ in range(11))
""",
        "right",
        "shorter turns, and fewer: it's right every day",
    ),
]

MINI = [
    (
        "7a",
        "divide",
        """
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    g = gcd(c.arg, *(factor for term, factor in parts.items() if term is not None))
    if g == 1:
        return None
    small = total({term: factor // g for term, factor in parts.items()}) // (c.arg // g)
    if op is Ops.IDIV:
        return small
    return total({term: factor // g for term, factor in parts.items()}) % (c.arg // g) * g
""",
        "wrong",
        "a common factor comes out, and of the constant + k % g is forgotten",
    ),
    (
        "7a",
        "divide",
        """
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    k = parts.get(None, 0)
    g = gcd(c.arg, *(factor for term, factor in parts.items() if term is not None))
    if g == 1:
        return None
    small = total({term: factor // g for term, factor in parts.items()})
    if op is Ops.IDIV:
        return small // (c.arg // g)
    return small % (c.arg // g) * g + k % g
""",
        "right",
        "a common factor comes out, too: (i*2 + 1) % 4 is i % 2 * 2 + 1",
    ),
    (
        "7a",
        "divide",
        """
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    g = gcd(c.arg, *parts.values())
    if g == 1 or op is Ops.MOD:
        return None
    return total({term: factor // g for term, factor in parts.items()}) // g
""",
        "wrong",
        "the common factor leaves x, and of c what is left is g (right by chance for c = g * g)",
    ),
]
