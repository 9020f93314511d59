"""Project 7: what its checks ask, what they are worth, and a hint for each.

A submission runs where the devices that come with tinyframe are not there (grader/shut.py): what
its allocator, compiler, runner and device do, it does by itself. Its compiler is asked for programs
with numbers that are drawn, whose bytes are loaded and run in a process without the submission. Its
runner gets libraries that the judge has compiled. What its device computes is compared with what
the PYTHON device computes, here; but only where the parts of that device, called by the judge one
after the other, compute a kernel that is drawn. The benchmark gets devices that are slow by a
number that is drawn, to compile and to launch, and one that is back before it is done: what it
measures there has to be at least that, and not much more. The number is in machine code.
"""

import ast
import re
from pathlib import Path

import numpy as np

import tinyframe
from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    NumpyArray,
    Open,
    Project,
    Raised,
    Wrong,
    expect,
    expect_close,
    expect_equal,
    expect_kind,
    or_known,
)
from classroom.prints import fingerprints, python_in, tokens_of
from tinyframe.dtype import dtypes
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.tools import conformance

project = Project(
    "Project 7: A device of your own",
    points=100,
    times=3,  # it compiles some forty kernels
    main="backend.py",
    is_alone=True,
    afterwards="From a list of numbers down to the bytes of a library, there's no part left that "
    "you haven't written yourself at least once. That was the basement.",
)

source_of = answer(measured.source)


# ---- whose is it? --------------------------------------------------------------------------------

PARTS = ("MyAllocator", "MyCompiler", "MyRunner")
STANDS_ON = {**{part: [part] for part in PARTS}, "MyDevice": PARTS, "conformance": PARTS}
# what of tinyframe's does the work of which parts
OWN = {
    "runtime/README.md": PARTS,
    "runtime/host.py": ["MyAllocator"],
    "runtime/clang.py": ["MyCompiler"],
    "runtime/cpu.py": ["MyRunner"],
}
# Percent of the fingerprints of one of those that are in a submission, too. The worked solution has
# 30 of README's, and somebody's who wrote it line by line as the hints say has 69. Copies have 100.
MOST_SHARED = 85
LIBRARY = Path(tinyframe.__file__).parent


def code_in(text):
    """A file as Python would write it, and the code in its texts; "" of what is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    texts = [node.value for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)
             and "class " in node.value]  # fmt: skip
    return "\n".join([ast.unparse(tree), *map(code_in, texts)]) + "\n"


def prints_of(codes):
    return set(fingerprints(tokens_of({"it.py": "".join(map(code_in, codes)).encode()})))


def copied(files):
    own = prints_of(data.decode(errors="replace") for name, data in sorted(files.items())
                    if name.endswith(".py"))  # fmt: skip
    said = {}
    for where, parts in OWN.items():
        path = LIBRARY / where
        theirs = prints_of([python_in(path.name, path.read_bytes()).decode()])
        if 100 * len(own & theirs) >= MOST_SHARED * len(theirs):
            sentence = f"this is tinyframe's own, from {where}, whatever you renamed; write yours"
            said = dict.fromkeys(parts, sentence) | said
    return {task: said[parts[0]] for task, parts in STANDS_ON.items() if set(parts) <= set(said)}


project.copied = copied


# ---- A. memory -----------------------------------------------------------------------------------

ALLOC = Expression("a.alloc(count)", {}, "a, count")
PUT = Expression("(a.copyin(m, memoryview(data.tobytes())), True)[1]", {}, "a, m, data")
PUT_ARRAY = Expression("(a.copyin(m, memoryview(data)), True)[1]", {}, "a, m, data")
GET = Expression(
    "(lambda into: (a.copyout(memoryview(into), m), __import__('numpy').frombuffer(into, 'u1'))[1])"
    "(bytearray(count))",
    {},
    "a, m, count",
)


def random_bytes(ask, count, low=0):
    return ask.rng.integers(low, 256, count).astype(np.uint8)


def got_bytes(ask, allocator, memory, count):
    found = ask(GET, allocator, memory, count)
    expect_kind(found, NumpyArray, "what copyout() filled")
    return found.values


def expect_bytes(found, data, what):
    if (found == data).all():
        return
    first = int(np.flatnonzero(found != data)[0])
    rest = "" if found[first:].any() else ", and so are all after it"
    was = f"byte {first} of {what} is {found[first]}{rest}; it was {data[first]} when it went in"
    before = first and data[first - 1] == 0
    raise Wrong(f"{was}. The byte before it is a zero, where a text would end" if before else was)


def round_trip(ask, allocator, data, what, put=PUT):
    memory = ask.keep(ALLOC, allocator, len(data))
    ask(put, allocator, memory, NumpyArray(data))
    expect_bytes(got_bytes(ask, allocator, memory, len(data)), data, what)
    return memory


@project.check(
    "MyAllocator",
    7,
    "a round trip: what went in comes out",
    "ctypes.memmove(to, from, count) copies; bytes(src) is something it can copy from. A string "
    "buffer has `raw` (all its bytes) and `value` (those before the first zero).",
)
def _(ask):
    allocator = ask.keep("MyAllocator")
    with ask.part("bytes"):
        data = random_bytes(ask, ask.integer(100, 4000), low=1)
        round_trip(ask, allocator, data, "the memory")
    with ask.part("zeros among them"):
        data = random_bytes(ask, ask.integer(100, 4000))
        data[ask.integer(3, 90)] = 0
        round_trip(ask, allocator, data, "the memory")


# ---- B. the compiler -----------------------------------------------------------------------------

COMPILE = Expression("c.compile(src)", {}, "c, src")
KIND = Expression("type(lib).__name__", {}, "lib")
AS_ARRAY = Expression("__import__('numpy').array(list(lib), 'u1')", {}, "lib")
# Of a library in an array of bytes.
LOADED = (
    "(lambda ctypes, folder: (open(folder.name + '/k.so', 'wb').write(lib.tobytes()), "
    "ctypes.CDLL(folder.name + '/k.so'))[1])"
    "(__import__('ctypes'), __import__('tempfile').TemporaryDirectory())"
)
LOAD = Expression(LOADED, {}, "lib")
RUN = Expression(
    f"({LOADED}[name](__import__('ctypes').c_void_p(a.ctypes.data)), a)[1]", {}, "lib, name, a"
)
TOGETHER = Expression(
    "list(__import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(len(sources))"
    ".map(c.compile, sources))",
    {},
    "c, sources",
)
AT = Expression("things[n]", {}, "things, n")


def library_of(ask, compiler, source):
    """The bytes that the submission's compiler makes of it."""
    return bytes_of(ask, ask.keep(COMPILE, compiler, source))


def bytes_of(ask, lib):
    kind = ask(KIND, lib)
    expect(kind == "bytes", f"compile() returned an object of type {kind}, but should return bytes")
    return ask(AS_ARRAY, lib)


def run(ask, lib, name, array):
    """What the array is after a call of this function, where the submission isn't."""
    try:
        return ask.apart(RUN, lib, name, NumpyArray(array)).values
    except Raised as error:
        if error.kind == "OSError":
            why = error.message.rpartition(": ")[2]  # without the file, which is the judge's own
            said = f"the bytes are not a shared library that can be loaded: {why}"
            raise Wrong(said) from None
        raise Wrong(f"calling {name}() in the library raised {error}") from None


@project.check(
    "MyCompiler",
    8,
    "a[0] = 42.0f, and a program with fresh numbers",
    'subprocess.run([*c_compiler(), "-shared", "-fPIC", "-x", "c", "-", "-o", file], input=src, '
    "text=True), and then read the file: Path(file).read_bytes().",
)
def _(ask):
    compiler = ask.keep("MyCompiler")
    with ask.part("42"):
        library = library_of(ask, compiler, "void kernel(float* a) { a[0] = 42.0f; }")
        found = run(ask, library, "kernel", np.zeros(2, np.float32))
        expect(found[0] == 42, f"a[0] is {found[0]} after kernel(a), and should be 42.0")
    with ask.part("fresh numbers"):
        name, m, k = f"f{ask.integer(10, 99)}", ask.integer(2, 9), ask.integer(10, 99)
        loop = f"for (int i = 0; i < 8; i++) a[i] = a[i] * {m}.0f + {k}.0f;"
        given = np.arange(8, dtype=np.float32)
        library = library_of(ask, compiler, f"void {name}(float* a) {{ {loop} }}\n")
        expect_close(run(ask, library, name, given), given * m + k, f"a after {name}(a)")


# ---- C. the runner -------------------------------------------------------------------------------

BYTES = Expression("data.tobytes()", {}, "data")
LAUNCH = Expression(
    "(lambda given: 'nothing' if given is None else given)"
    "(run(*bufs, global_size=(count, 1, 1), local_size=(1, 1, 1), wait=wait))",
    {},
    "run, bufs, count, wait",
)
# adds to what is there, so that a turn that ran twice can be told
TURNS = """
void NAME_entry(void** bufs, const long long* vals, int start, int stop) {
  float* out = bufs[0];
  const float* x = bufs[1];
  for (int i = start; i < stop; i++) out[i] += x[i] * FACTOR;
}
"""
SLOW = """
#include <time.h>
void NAME_entry(void** bufs, const long long* vals, int start, int stop) {
  struct timespec now, then;
  timespec_get(&then, TIME_UTC);
  do timespec_get(&now, TIME_UTC);
  while ((now.tv_sec - then.tv_sec) + (now.tv_nsec - then.tv_nsec) * 1e-9 < SECONDS);
}
"""


def library(name, text, **numbers):
    """The bytes of a library that the judge has compiled, with these words in its text replaced."""
    for word, number in {"NAME": name, **numbers}.items():
        text = text.replace(word, str(number))
    return NumpyArray(np.frombuffer(ClangCompiler(find_compiler()).compile(text), np.uint8))


class Bench:
    """Memory of the submission's allocator, and runners of libraries that the judge compiled."""

    def __init__(self, ask, allocator=None):
        self.ask, self.allocator = ask, allocator or ask.keep("MyAllocator")

    def memory(self, array):
        memory = self.ask.keep(ALLOC, self.allocator, array.nbytes)
        self.ask(PUT, self.allocator, memory, NumpyArray(array))
        first = "MyAllocator comes first: what is copied in and out here is not the same"
        expect((self.read(memory, array) == array).all(), first)
        return memory

    def read(self, memory, like):
        return got_bytes(self.ask, self.allocator, memory, like.nbytes).view(like.dtype)

    def runner(self, name, text, **numbers):
        return self.ask.keep("MyRunner", name, self.ask.keep(BYTES, library(name, text, **numbers)))

    def launch(self, runner, bufs, count, wait=True):
        """What it gives; "nothing" for None."""
        return self.ask(LAUNCH, runner, bufs, count, wait)

    def expect_written(self):
        """Open where a launch gives nothing and does nothing."""
        one = np.ones(1, np.float32)
        out = self.memory(np.zeros_like(one))
        runner = self.runner("w", TURNS, FACTOR="1.0f")
        said = self.launch(runner, [out, self.memory(one)], 1)
        if said == "nothing" and not self.read(out, one)[0]:
            raise Open


def expect_turns(found, x, factor, count):
    """Each turn has run once, and none that was not asked for."""
    ran = found / (x * factor)
    wanted = (np.arange(len(x)) < count).astype(float)
    if np.allclose(ran, wanted):
        return
    first = int(np.flatnonzero(~np.isclose(ran, wanted))[0])
    raise Wrong(f"with global_size ({count}, 1, 1), turn {first} ran {ran[first]:.3g} times")


@project.check(
    "MyRunner",
    10,
    "one launch, a global size, and a kernel of tinyframe's",
    'ctypes.CDLL(path)[f"{name}_entry"] is the function, (ctypes.c_void_p * len(bufs))(…) the array'
    " of addresses, and ctypes.addressof(buffer) the address of what create_string_buffer gave.",
)
def _(ask):
    bench, size = Bench(ask), ask.integer(9, 15)
    bench.expect_written()
    factor, x = ask.integer(2, 9), ask.rng.integers(1, 50, size).astype(np.float32)
    runner = bench.runner(f"k{ask.integer(10, 99)}", TURNS, FACTOR=f"{factor}.0f")
    for part, count in (("one turn", 1), ("every turn of a global size", ask.integer(4, 8))):
        with ask.part(part):
            out = bench.memory(np.zeros_like(x))
            bench.launch(runner, [out, bench.memory(x)], count)
            expect_turns(bench.read(out, x), x, factor, count)
    with ask.part("a kernel of tinyframe's"):
        a, b, k = ask.floats(40), ask.floats(40), ask.integer(2, 9)
        text = source_of(Expression(f"a * {k} - b", {"a": a, "b": b}))
        (name,) = re.findall(r"void (\w+)_entry", text)
        out = bench.memory(np.zeros_like(a))
        bench.launch(bench.runner(name, text), [out, bench.memory(a), bench.memory(b)], 1)
        expect_close(bench.read(out, a), a * k - b, f"a * {k} - b")


# ---- D. the device -------------------------------------------------------------------------------

# None, which is open, where there is no MY
ON_MY = "({}) if 'MY' in __import__('tinyframe').Device._devices else None"


def on_my(text, **arrays):
    return Expression(ON_MY.format(text), arrays, None)


def tensor(array):
    return f"Tensor({array.tolist()}, device='MY')"


MINE = Expression(ON_MY.format("__import__('tinyframe').Device['MY']"))
ALLOCATOR = Expression("mine.allocator", {}, "mine")
COMPILED = Expression("mine.compiler.compile(src)", {}, "mine, src")
RUNNER = Expression("mine.runner(name, lib)", {}, "mine, name, lib")


def expect_device(ask):
    """Open where there is no MY, and Wrong where its parts don't compute, which the judge calls one
    after the other: what says that it's a Tensor on MY could be anything."""
    mine, a, b, k = ask.keep(MINE), ask.floats(40), ask.floats(40), ask.integer(2, 9)
    text = source_of(Expression(f"a * {k} - b", {"a": a, "b": b}))
    (name,) = re.findall(r"void (\w+)_entry", text)
    runner = ask.keep(RUNNER, mine, name, ask.keep(COMPILED, mine, text))
    bench = Bench(ask, ask.keep(ALLOCATOR, mine))
    out = bench.memory(np.zeros_like(a))
    bench.launch(runner, [out, bench.memory(a), bench.memory(b)], 1)
    what = f"Device['MY'] has parts, but where they compute a * {k} - b one by one, the result"
    expect_close(bench.read(out, a), a * k - b, what)


@project.check(
    "MyDevice",
    7,
    "[1, 2, 3] + [4, 5, 6] on MY, and other numbers",
    "super().__init__(device, MyAllocator(), CStyleLanguage(), MyCompiler(), MyRunner), and below "
    'the class, not in it, Device._devices["MY"] = MyDevice.',
)
def _(ask):
    expect_device(ask)
    give = Expression("x", {}, "x")
    with ask.part("[5, 7, 9]"):
        text = "(Tensor([1, 2, 3], device='MY') + Tensor([4, 5, 6], device='MY')).tolist()"
        found = ask(give, on_my(text))
        expect_equal(found, [5, 7, 9], "[1, 2, 3] + [4, 5, 6] on MY")
    with ask.part("fresh numbers"):
        a, b = (ask.rng.integers(-99, 99, ask.rng.integers(4, 9)) for _ in range(2))
        b = np.resize(b, len(a))
        found = ask(give, on_my(f"({tensor(a)} * {tensor(b)} - 7).tolist()"))
        expect_equal(found, (a * b - 7).tolist(), f"{a.tolist()} * {b.tolist()} - 7 on MY")


# ---- E. how fast is it? --------------------------------------------------------------------------

# A device called `name` that is MY, and takes longer: half a second to compile, and what the
# library says to launch a kernel, or one that reduces, whose name begins with r. `late`: it is back
# at once, and takes them when somebody waits for it. Where no device is named, MY computes, as CPU
# would elsewhere. True, since None would be open.
SLOWED = """(lambda device, time: (setattr(device.Device, 'DEFAULT', 'MY'),
 device.Device._devices.__setitem__(name, lambda given: (lambda mine: type(
  'Slowed', (device.Compiled,), {'synchronize': lambda self: library.settle()})(
  given, mine.allocator, mine.renderer,
  type('Slow', (device.Compiler,), {
   'compile': lambda self, src: (time.sleep(0.5), mine.compiler.compile(src))[1]})(),
  lambda kernel, lib: (lambda run: lambda *bufs, **how: (
   library.launch(kernel[0] == 'r'), None if late and not how.get('wait') else library.settle(),
   run(*bufs, **how))[2])(mine.runner(kernel, lib)))
 )(device.Device['MY'])), True)[2])(
 __import__('tinyframe.device', fromlist=['x']), __import__('time'))"""
SLOW_DEVICE = Expression(SLOWED.replace("\n", " "), {}, "name, library, late")
# What it takes is nowhere but in here.
TAKES = """
#include <time.h>
static double owed;
static int ran[2];
int count(int reduces) { return ran[reduces]; }
void launch(int reduces) { ran[reduces]++; owed += reduces ? COMPUTING : LAUNCHING; }
void settle(void) {
  struct timespec now, then;
  timespec_get(&then, TIME_UTC);
  do timespec_get(&now, TIME_UTC);
  while ((now.tv_sec - then.tv_sec) + (now.tv_nsec - then.tv_nsec) * 1e-9 < owed);
  owed = 0;
}
int now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return t.tv_sec % 1000 * 1000000 + t.tv_nsec / 1000;
}
int took(double each) {
  int best = 1000000000, start;
  for (int n = 0; n < 5; n++) {
    start = now();
    for (int i = 0; i < 20; i++) { owed = each; settle(); }
    if (now() - start >= 0 && now() - start < best) best = now() - start;
  }
  return best / 20;
}
int takes(int reduces) { return took(reduces ? COMPUTING : LAUNCHING); }
"""
COUNTS = Expression(
    "[library.count(1), library.count(0), library.takes(1), library.takes(0)]", {}, "library"
)
FIELDS = ("device", "seconds", "gflops", "launch", "share")


def benchmark_rows(ask, slow, n, late):
    """What benchmark() says of MY and of a slow device, where its form is right; and how many
    matmuls and how many other kernels the slow one ran meanwhile, and what each of them takes on
    a machine that is as busy as this one, in microseconds."""
    name, launching, computing = slow
    takes = ask.keep(LOAD, library(name, TAKES, COMPUTING=computing, LAUNCHING=launching))
    ask(SLOW_DEVICE, name, takes, late)
    names = [name, "MY"]
    rows = ask("benchmark", names, n)
    expect_kind(rows, list, "the result of benchmark()")
    for row in rows:
        expect_kind(row, dict, "a row of benchmark()")
        for field in FIELDS:
            expect(field in row, f"a row of benchmark() has no {field!r}")
            expect_kind(row[field], str if field == "device" else float, f"the {field!r} of a row")
    expect_equal([row["device"] for row in rows], names, "the list of the devices of the rows")
    return rows, ask(COUNTS, takes)


def expect_measured(what, found, least, most, slips):
    """`found` is a time between the two; slips: (what it would be then, the sentence)."""
    said = f"{what} is {found:.3g} s; one takes {least:.3g} s there, and little more"
    with or_known(True, {text: 0.9 * wrong < found < 3 * wrong for wrong, text in slips}):
        expect(found >= 0.98 * least, f"{said}: did you divide by too much, or not wait for it?")
        expect(found <= most, f"{said}: is the first call, which compiles, in it, or not divided?")


def expect_benchmark(ask, late):
    expect_device(ask)
    launching, computing = ask.integer(10, 15) / 1e4, ask.integer(30, 40) / 1e4
    name, n = f"SLOW{ask.integer(10, 99)}", ask.integer(20, 40)
    for again in ("", "B", "C"):  # a busy machine is slow for a while, a wrong clock always
        times = name + again, launching, computing
        rows, (matmuls, others, *takes) = benchmark_rows(ask, times, n, late)
        most = [6 * max(a, b / 1e6) for a, b in zip((computing, launching), takes, strict=True)]
        slow, mine = rows
        if slow["seconds"] <= most[0] and slow["launch"] <= most[1]:
            break
    name = slow["device"]
    ran = f"{name} ran {matmuls} matmuls and {others} other kernels while you measured it"
    early = "it is back before it is done: Device[name].synchronize() waits for it"
    with ask.part("seconds"):
        expect(matmuls >= 10, ran)
        slips = [(mine["seconds"], f"{name} seems as fast as MY; {early}")] if late else []
        expect_measured("a matmul", slow["seconds"], computing, most[0], slips)
        expect(mine["seconds"] > 0, "a matmul on MY takes no time")
    with ask.part("launch"):
        expect(others >= 10, ran)
        slips = [(mine["launch"], f"{name} seems to launch as fast as MY; {early}")] if late else []
        expect_measured("a launch", slow["launch"], launching, most[1], slips)
        expect(mine["launch"] > 0, "a launch on MY takes no time")
    with ask.part("gflops and share", "seconds", "launch"):
        for row in rows:
            gflops, share = 2 * n**3 / row["seconds"] / 1e9, row["launch"] / row["seconds"]
            expect_number(row["gflops"], gflops, f"with n = {n} and {row['seconds']:.4g} s, gflops")
            expect_number(row["share"], share, "the share, launch / seconds,")


def expect_number(found, wanted, what):
    close = abs(found - wanted) <= 0.01 * abs(wanted) + 1e-12
    expect(close, f"{what} is {found:.4g}, and should be {wanted:.4g}")


@project.check(
    "benchmark",
    5,
    "MY, and a device that is slow to compile",
    "TinyJit a function that does x = step(x).realize() twenty times. Call it twice, then time a "
    "few more calls with perf_counter(), take min(…), and divide by twenty.",
    trusts="how long a slow device took",
)
def _(ask):
    expect_benchmark(ask, late=False)


# ---- E. explained --------------------------------------------------------------------------------


def row_of(device, n, seconds, launch):
    return {"device": device, "seconds": seconds, "gflops": 2 * n**3 / seconds / 1e9,
            "launch": launch, "share": launch / seconds}  # fmt: skip


def drawn_rows(ask, parts):
    """The fastest device, and one for each part: so much of the difference is the launch."""
    n, fast = ask.integer(50, 300), ask.integer(10, 90) / 1e4
    launch = fast * ask.integer(10, 30) / 100
    rows = [row_of("CPU", n, fast, launch)]
    for number, part in enumerate(parts):
        more = fast * ask.integer(20, 90) / 10
        rows.append(row_of(f"D{number}", n, fast + more, launch + more * part))
    order = ask.rng.permutation(len(rows)).tolist()
    if order[0] == 0:  # whoever takes the first for the fastest is told
        order.append(order.pop(0))
    return [rows[place] for place in order]


def expect_explained(ask, parts):
    rows = drawn_rows(ask, parts)
    best = min(rows, key=lambda row: row["seconds"])
    others = [row for row in rows if row is not best]
    found = ask("explained", rows)
    expect_kind(found, list, "the result of explained()")
    names = [row.get("device") for row in found]
    expect_equal(names, [row["device"] for row in others], "the list of the devices explained")
    for got, row in zip(found, others, strict=True):
        of = f"of {row['device']}"
        longer, launches = row["seconds"] - best["seconds"], row["launch"] - best["launch"]
        part = float(np.clip(launches / longer, 0, 1))
        with ask.part("times"):
            expect_kind(got["times"], float, f"the 'times' {of}")
            expect_number(got["times"], row["seconds"] / best["seconds"], f"the 'times' {of}")
        with ask.part("launch"):
            expect(type(got["launch"]) in (int, float), f"the 'launch' {of} is no number")
            expect_number(got["launch"], part, f"the 'launch' {of}")
        with ask.part("why"):
            why = "launch" if part > 0.5 else "kernel"
            expect_equal(got["why"], why, f"where {part:.0%} is the launch, the reason")


@project.check(
    "explained",
    5,
    "three devices, and why two are slower",
    "Of each of the two numbers take the difference to the fastest device's, then divide the "
    "difference in launches by the difference in seconds.",
)
def _(ask):
    expect_explained(ask, (ask.integer(10, 40) / 100, ask.integer(60, 90) / 100))


# ---- F. is it right? -----------------------------------------------------------------------------

# bfloat16 begins with a cast on PYTHON, which is not there
DTYPES = [dtype for dtype in conformance.ALL if dtype is not dtypes.bfloat16]
ROWS = {check.name: check for check in conformance.CHECKS}
CELL = Expression(
    ON_MY.format(
        "(lambda table, dtypes: next(check for check in table.CHECKS if check.name == name)"
        ".build('MY', getattr(dtypes, dtype)).numpy())"
        "(__import__('tinyframe.tools.conformance', fromlist=['x']), __import__('tinyframe').dtypes"
        ")"
    ),
    {},
    "name, dtype",
)
PART = Expression(
    ON_MY.format(
        "__import__('tinyframe.tools.parts', fromlist=['x']).PARTS[name]('MY') or 'nothing'"
    ),
    {},
    "name",
)


def expect_cell(ask, name, dtype):
    """A cell of the table is as PYTHON has it."""
    row, label = ROWS[name], repr(dtype).removeprefix("dtypes.")
    try:
        found = ask(CELL, name, label)
    except Raised as error:
        raise Wrong(f"{name}, {label}: raised {error}") from None
    wanted = row.build("PYTHON", dtype).numpy()
    expect_kind(found, NumpyArray, f"what {name} gives")
    operands = row.build.operands(dtype) if isinstance(row.build, conformance.OfEdges) else ()
    story = conformance.difference(found.values, wanted, row.ulps, operands)
    expect(not story, f"{name}, {label}: {story}")


def expect_cells(ask, names, count):
    """Some cells of these rows, drawn."""
    for name in ask.rng.permutation(names)[:count]:
        allowed = [dtype for dtype in ROWS[name].dtypes if dtype in DTYPES]
        expect_cell(ask, str(name), allowed[ask.integer(0, len(allowed) - 1)])


def expect_part(ask, name):
    story = ask(PART, name)
    expect(story == "nothing", f"{name}: {story}")


@project.check(
    "conformance",
    8,
    "some cells of the table, and the lines above it",
    "Run python -m tinyframe.runtime.conformance --module projects/07_custom_backend/backend.py MY:"
    ' it shows the first one that is wrong, with its C. --only "sum" tries one line.',
    trusts="launches and copies in their order",
)
def _(ask):
    expect_device(ask)
    with ask.part("launches and copies", "arithmetic"):
        for name in ("memory", "launches", "order"):
            expect_part(ask, name)
    with ask.part("arithmetic"):
        expect_cells(ask, ["add", "subtract", "multiply", "negate", "divide, rounding down"], 3)
    with ask.part("comparisons"):
        expect_cells(ask, ["less", "equal", "maximum", "choose"], 2)
    with ask.part("sums and matmuls"):
        expect_cells(ask, ["sum", "largest", "matmul"], 2)


### BEGIN HIDDEN


@project.check(
    "MyAllocator",
    7,
    "two memories at once, memoryviews of all kinds, parts of a memory",
    "Every call of _alloc gives memory of its own. copyin takes a memoryview that is read-only or "
    "shorter than the memory; copyout fills one that is shorter.",
)
def _(ask):
    allocator = ask.keep("MyAllocator")
    count = ask.integer(64, 400)
    one, other = (random_bytes(ask, count, low=1) for _ in range(2))
    with ask.part("two at once"):
        first = round_trip(ask, allocator, one, "the first memory")
        round_trip(ask, allocator, other, "the second memory")
        found = got_bytes(ask, allocator, first, count)
        with or_known(found, {"what went into the second memory is in the first one too": other}):
            expect_bytes(found, one, "the first memory")
    with ask.part("a memoryview that can be written to"):
        round_trip(ask, allocator, random_bytes(ask, count, low=1), "the memory", PUT_ARRAY)
    with ask.part("the beginning only"):
        memory = round_trip(ask, allocator, one, "the memory")
        short = count // 3
        ask(PUT, allocator, memory, NumpyArray(other[:short]))
        expected = np.concatenate([other[:short], one[short:]])
        expect_bytes(got_bytes(ask, allocator, memory, short), expected[:short], "its beginning")
        expect_bytes(got_bytes(ask, allocator, memory, count), expected, "the memory")


@project.check(
    "MyCompiler",
    8,
    "integers that wrap around, NaN, what the compiler refuses, several at once",
    "-fwrapv, and not -ffast-math. Look at returncode, and raise CompileError(stderr, src). Each "
    "call writes into a temporary folder of its own.",
)
def _(ask):
    compiler = ask.keep("MyCompiler")
    with ask.part("integers wrap around"):
        most = np.array([2**31 - 1, 0], np.int32)
        text = "void kernel(int* a) { a[1] = a[0] + 1 > a[0]; }"
        found = run(ask, library_of(ask, compiler, text), "kernel", most)
        expect(found[1] == 0, "2147483647 + 1 > 2147483647 came out as true: -fwrapv is missing")
    with ask.part("NaN"):
        text = "void kernel(float* a) { a[1] = a[0] != a[0] ? 1.0f : 2.0f; }"
        found = run(ask, library_of(ask, compiler, text), "kernel", np.array([np.nan, 0], "f"))
        expect(found[1] == 1, "NaN came out as equal to itself: leave -ffast-math out")
    with ask.part("an error"):
        name = f"unknown_{ask.integer(100, 999)}"
        text = f"void kernel(float* a) {{ a[0] = {name}; }}"
        ask.keep(COMPILE, compiler, f"float {name} = 2.0f; {text}")  # nothing is wrong with this
        try:
            ask.keep(COMPILE, compiler, text)
        except Raised as error:
            said = f"for C that is wrong it raised {error.kind}, without the compiler's words"
            expect(name in error.message, said)
        else:
            raise Wrong("for C that is wrong, compile() returned something; raise CompileError")
    with ask.part("several at once"):
        numbers = [ask.integer(100, 999) for _ in range(4)]
        sources = [f"void kernel(float* a) {{ a[0] = {k}.0f; }}" for k in numbers]
        libs = ask.keep(TOGETHER, compiler, sources)
        for n, number in enumerate(numbers):
            library = bytes_of(ask, ask.keep(AT, libs, n))
            found = run(ask, library, "kernel", np.zeros(1, np.float32))
            mixed = "compiled at the same time, one program came out as another: use other files"
            with or_known(int(found[0]) in numbers, {mixed: True}):
                expect(found[0] == number, f"a[0] is {found[0]}, and should be {number}")


@project.check(
    "MyRunner",
    10,
    "seconds, two programs of one name, memory that changes",
    "perf_counter() before and after; return the difference only if `wait` is true. Load each "
    "library from a file with a name of its own.",
)
def _(ask):
    bench = Bench(ask)
    bench.expect_written()
    with ask.part("seconds", "two programs of one name", "memory that changes"):
        least = ask.integer(20, 40) / 1000
        slow = bench.runner("s", SLOW, SECONDS=least)
        found = bench.launch(slow, [], 1)
        expect(found != "nothing", "with wait=True a launch gave None; return the seconds it took")
        expect_kind(found, float, "with wait=True, what a launch gives")
        took = f"a kernel that takes {least} s took {found:.4g} s, as it says"
        expect(0.98 * least <= found < 20 * least, took)
        said = bench.launch(slow, [], 1, wait=False)
        expect(said == "nothing", f"without wait a launch gave {said}; return None")
    with ask.part("two programs of one name"):
        x = ask.rng.integers(1, 50, 6).astype(np.float32)
        factors = 2, ask.integer(3, 9)
        runners = [bench.runner("twin", TURNS, FACTOR=f"{factor}.0f") for factor in factors]
        for number in (0, 1, 0):
            out = bench.memory(np.zeros_like(x))
            bench.launch(runners[number], [out, bench.memory(x)], 6)
            found, other = bench.read(out, x), x * factors[1 - number]
            twins = "two programs have kernels of one name: you called the other one's"
            with or_known(found, {twins: other}):
                expect_turns(found, x, factors[number], 6)
    with ask.part("memory that changes"):
        runner = bench.runner("m", TURNS, FACTOR="1.0f")
        memory = [bench.memory(np.full(4, number, np.float32)) for number in (1, 2, 4)]
        for a, b in ((0, 1), (2, 0), (0, 2)):
            bench.launch(runner, [memory[a], memory[b]], 4)
        found = [float(bench.read(m, np.zeros(4, "f"))[0]) for m in memory]
        expect_equal(found, [10.0, 2.0, 7.0], "after a += b, c += a, a += c, the list [a, b, c]")


@project.check(
    "MyDevice",
    7,
    "a matmul, a longer graph, a second device",
    "What MyDevice(device) is called with is its name: hand it on, for MY:1 as well. If a result "
    "is wrong, try tasks 1 to 3 with the same numbers.",
)
def _(ask):
    expect_device(ask)
    give = Expression("x", {}, "x")
    a, b = ask.floats(ask.integer(5, 9), ask.integer(5, 9)), ask.floats(9, ask.integer(5, 9))
    b = b[: a.shape[1]]
    with ask.part("a matmul"):
        found = ask(give, on_my(f"({tensor(a)} @ {tensor(b)}).numpy()"))
        expect_close(found, a @ b, "a @ b on MY", kind=NumpyArray)
    with ask.part("a longer graph"):
        text = f"(({tensor(a)} * 3 - 1).relu().sum(0) / 4).exp().numpy()"
        wanted = np.exp(np.maximum(a * 3 - 1, 0).sum(0) / 4)
        expect_close(ask(give, on_my(text)), wanted, "its result", rtol=1e-3, kind=NumpyArray)
    with ask.part("MY:1"):
        name = "__import__('tinyframe').Device['MY:1'].device"
        expect_equal(ask(give, on_my(name)), "MY:1", "the name of the device MY:1")
        moved = f"({tensor(a)}.to('MY:1').realize() + 1).to('MY').numpy()"
        expect_close(ask(give, on_my(moved)), a + 1, "from MY to MY:1 and back", kind=NumpyArray)


@project.check(
    "benchmark",
    5,
    "a device that is back before it is done",
    "After the call and before you look at the clock: Device[name].synchronize().",
    trusts="how long a slow device took",
)
def _(ask):
    expect_benchmark(ask, late=True)


@project.check(
    "explained",
    5,
    "launches that cost less than on the fastest device; four devices",
    "The fastest device may stand anywhere in the list. max(…, 0) keeps the fraction from being "
    "negative.",
)
def _(ask):
    parts = (-ask.integer(10, 20) / 1000, ask.integer(20, 48) / 100, ask.integer(52, 95) / 100)
    expect_explained(ask, parts)


@project.check(
    "conformance",
    8,
    "more cells of the table",
    "Run python -m tinyframe.runtime.conformance --module projects/07_custom_backend/backend.py MY:"
    " it goes through all of them in a minute or two, and shows the first one that is wrong.",
)
def _(ask):
    expect_device(ask)
    with ask.part("arithmetic"):
        expect_cells(ask, ["divide", "remainder", "quotient as float", "minimum", "not equal"], 3)
    with ask.part("bits and functions"):
        names = ["and, or, xor", "shift left", "shift right", "the same bits", "square root",
                 "whole part", "exp2", "sin"]  # fmt: skip
        expect_cells(ask, names, 3)
    with ask.part("memory"):
        expect_cells(ask, ["padding", "other orders", "by index", "in place", "copy"], 3)
    with ask.part("Variables"):
        expect_cells(ask, ["Variables"], 1)
    with ask.part("captured"):
        expect_cells(ask, ["captured"], 1)


### END HIDDEN
