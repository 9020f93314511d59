"""A device of blocks and threads without a GPU: programs as C, a launch as threads of this process.

BLOCKS runs one block after the other. The threads of a block are real ones, and a barrier is where
each waits for the others. They take turns: one runs until it gets to a barrier, or to the end, and
then the next does. So what a thread does too early, because a barrier is missing, happens every
time. In each block, panels start as bytes of 0x7f, which are large numbers. The runner `AtOnce` has
all threads run at the same time, as on a GPU.

The C has nothing from `renderer/`: every value is an array of lanes, one for a scalar, and each op
a loop over them. Every access is checked: OutOfBounds if one is outside of its memory.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

from tinyframe.device import Compiled, Device, Runner
from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes
from tinyframe.renderer import Renderer, Target
from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp

# what a small GPU has
TARGET = Target(vector_bytes=16, vector_registers=32, threads=1, l1=0, l2=1 << 20,
                block_threads=64, shared_bytes=32 << 10, grid=(1 << 20, 65535, 65535),
                warp=32)  # fmt: skip

SIGNS = {Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.FDIV: "/", Ops.CDIV: "/", Ops.CMOD: "%",
         Ops.AND: "&", Ops.OR: "|", Ops.XOR: "^", Ops.SHL: "<<", Ops.SHR: ">>", Ops.CMPLT: "<",
         Ops.CMPNE: "!=", Ops.CMPEQ: "=="}  # fmt: skip
OPS = (*SIGNS, Ops.MAX, Ops.WHERE, Ops.SQRT, Ops.TRUNC)
TYPES = {dtypes.bool: "_Bool", dtypes.half: "_Float16"}

# Threads, and the barrier that they wait at. In turns: `turn` is the thread that may run. Each has
# a condition of its own, so that only the one that goes on is woken.
HARNESS = """
#include <pthread.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed[1024];
static int count, turn, arrived, round_, in_turns, gidx[3], sizes[3];
static __thread int me;
static int is_outside;
static long inside(long i, long size) {
  if (i >= 0 && i < size) return i;
  is_outside = 1;
  return 0;
}
static void next_turn(void) {
  turn = (turn + 1) % count;
  if (in_turns) pthread_cond_signal(changed + turn);
  else for (int n = 0; n < count; n++) pthread_cond_signal(changed + n);
}
static void wait_for_turn(void) {
  while (in_turns && turn != me) pthread_cond_wait(changed + me, &mutex);
}
static void barrier(void) {
  pthread_mutex_lock(&mutex);
  int mine = round_;
  if (++arrived == count) { arrived = 0; round_++; }
  next_turn();
  while (mine == round_) pthread_cond_wait(changed + me, &mutex);
  wait_for_turn();
  pthread_mutex_unlock(&mutex);
}
"""
LAUNCH = """
static const int *grid; static void **arguments; static const long long *variables;
static void *thread(void *p) {
  me = (int)(long)p;
  int n = in_turns < 0 ? count - 1 - me : me;
  int lidx[3] = { n % sizes[0], n / sizes[0] % sizes[1], n / sizes[0] / sizes[1] };
  pthread_mutex_lock(&mutex); wait_for_turn(); pthread_mutex_unlock(&mutex);
  for (int block = 0; block < grid[0] * grid[1] * grid[2]; block++) {
    if (me == 0) {
      gidx[0] = block % grid[0]; gidx[1] = block / grid[0] % grid[1];
      gidx[2] = block / grid[0] / grid[1];
      poison();
    }
    barrier();
    kernel(arguments, variables, lidx);
    barrier();
  }
  pthread_mutex_lock(&mutex); next_turn(); pthread_mutex_unlock(&mutex);
  return 0;
}
int launch(void **bufs, const long long *vals, const int *global, const int *local, int turns) {
  count = local[0] * local[1] * local[2]; in_turns = turns;
  turn = arrived = round_ = is_outside = 0;
  memcpy(sizes, local, sizeof sizes); grid = global; arguments = bufs; variables = vals;
  if (count > (int)(sizeof changed / sizeof *changed)) return 1;
  pthread_t threads[count];
  for (int n = 0; n < count; n++) pthread_cond_init(changed + n, 0);
  for (long n = 0; n < count; n++)
    if (pthread_create(threads + n, 0, thread, (void *)n)) return 1;
  for (int n = 0; n < count; n++) pthread_join(threads[n], 0);
  return is_outside ? 2 : 0;
}
"""


class OutOfBounds(IndexError):
    """A kernel read or wrote outside of its memory."""


def c_type(dtype: DType) -> str:
    return TYPES.get(dtype.scalar(), dtype.scalar().name)


class BlocksLanguage(Renderer):
    """One thread's program, as C."""

    device = "BLOCKS"
    code_for_op = {
        op: lambda *operands: "" for op in (*SIGNS, Ops.MAX, Ops.WHERE, Ops.SQRT, Ops.TRUNC)
    }

    def __init__(self, target: Target = TARGET) -> None:
        super().__init__(target)
        self.native_half = "__FLT16_MAX__" in _compiler().macros

    def render(self, name: str, uops: list[UOp]) -> str:
        body = _Body(uops)
        panels = [u for u in uops if u.op is Ops.DEFINE_LOCAL]
        shared = [f"static {c_type(u.dtype.base)} panel{u.arg}[{u.dtype.size}];" for u in panels]
        poisoned = [f"memset(panel{u.arg}, 0x7f, sizeof panel{u.arg});" for u in panels]
        head = "static void kernel(void **bufs, const long long *vals, const int *lidx) {"
        return "\n".join([HARNESS, *shared, head, *body.lines, "}",
                          "static void poison(void) {", *poisoned, "}", LAUNCH])  # fmt: skip


class _Body:
    def __init__(self, uops: list[UOp]) -> None:
        self.lines: list[str] = []
        self.names: dict[UOp, str] = {}
        for n, u in enumerate(uops):
            self.names[u] = f"v{n}"
            self.write(u, uops)

    def write(self, u: UOp, uops: list[UOp]) -> None:
        v, x = self.names[u], [self.names[s] for s in u.src]
        if u.op is Ops.DEFINE_GLOBAL:
            slot = sorted(d.arg for d in uops if d.op is Ops.DEFINE_GLOBAL).index(u.arg)
            self.lines.append(f"{c_type(u.dtype.base)} *{v} = bufs[{slot}];")
        elif u.op is Ops.DEFINE_VAR:
            slot = sorted(d.arg for d in uops if d.op is Ops.DEFINE_VAR).index(u.arg)
            self.value(u, f"vals[{slot}]")
        elif u.op is Ops.SPECIAL:
            self.value(u, f"{u.arg[0][:-1]}[{u.arg[0][-1]}]")
        elif u.op is Ops.DEFINE_LOCAL:
            self.lines.append(f"{c_type(u.dtype.base)} *{v} = panel{u.arg};")
        elif u.op is Ops.DEFINE_REG:
            self.lines.append(f"{c_type(u.dtype.base)} {v}[{u.dtype.base.count}];")
        elif u.op is Ops.CONST:
            self.value(u, constant(u))
        elif u.op is Ops.RANGE:
            head = f"for ({c_type(u.dtype)} {v}[1] = {{0}}; {v}[0] < {x[0]}[0]; {v}[0]++) {{"
            self.lines.append(head)
        elif u.op is Ops.ENDRANGE:
            self.lines.append("}")
        elif u.op is Ops.BARRIER:
            self.lines.append("barrier();")
        elif u.op is Ops.LOAD:
            self.value(u, f"{x[0]}ok ? {self.place(u.src[0], u.dtype.count)} : 0")
        elif u.op is Ops.STORE:
            place = self.place(u.src[0], u.src[1].dtype.count)
            self.lines.append(f"if ({x[0]}ok) {self.each(u.src[1])} {place} = {x[1]}[l];")
        elif u.op is Ops.INDEX:
            self.lines.append(f"_Bool {v}ok = {x[1]}[0]; long {v} = {x[2]}[0];")
        elif u.op is Ops.VECTORIZE:
            self.lines.append(f"{c_type(u.dtype)} {v}[] = {{ {', '.join(f'{s}[0]' for s in x)} }};")
        elif u.op is Ops.GEP:
            self.value(u, f"{x[0]}[{u.arg}]")
        else:
            self.value(u, self.elementwise(u, [self.lane(s) for s in u.src]))

    def lane(self, u: UOp) -> str:
        return f"{self.names[u]}[{'l' if u.dtype.count > 1 else 0}]"

    def each(self, u: UOp) -> str:
        return f"for (int l = 0; l < {u.dtype.count}; l++)"

    def value(self, u: UOp, text: str) -> None:
        name = self.names[u]
        self.lines.append(f"{c_type(u.dtype)} {name}[{u.dtype.count}];")
        self.lines.append(f"{self.each(u)} {name}[l] = {text};")

    def place(self, index: UOp, lanes: int) -> str:
        memory = index.src[0]
        if memory.addrspace is AddrSpace.REG:
            return f"{self.names[memory]}[l]"
        apart = 1 if index.arg is None else index.arg
        assert isinstance(memory.dtype, PtrDType)
        at = f"inside({self.names[index]} + l * {apart}, {memory.dtype.size})"
        return f"{self.names[memory]}[{at}]"

    def elementwise(self, u: UOp, x: list[str]) -> str:
        if u.op is Ops.CAST:
            return f"({c_type(u.dtype)}){x[0]}"
        if u.op is Ops.BITCAST:
            old, new = c_type(u.src[0].dtype), c_type(u.dtype)
            return f"((union {{ {old} a; {new} b; }}){{ .a = {x[0]} }}).b"
        if u.op is Ops.WHERE:
            return f"{x[0]} ? {x[1]} : {x[2]}"
        if u.op is Ops.MAX:
            return f"{x[0]} > {x[1]} || {x[0]} != {x[0]} ? {x[0]} : {x[1]}"
        if u.op in (Ops.SQRT, Ops.TRUNC):
            return f"__builtin_{u.op.name.lower()}({x[0]})"
        return f"{x[0]} {SIGNS[u.op]} {x[1]}"


def constant(u: UOp) -> str:
    if dtypes.is_float(u.dtype):
        if not math.isfinite(u.arg):
            return '__builtin_nan("")' if u.arg != u.arg else f"{math.copysign(1, u.arg)} / 0.0"
        return float(u.arg).hex()
    return "(-9223372036854775807l - 1)" if u.arg == dtypes.long.min else f"{int(u.arg)}l"


class BlocksRunner(Runner):
    """Starts the threads of a block for each launch. turns: 1 one after the other, -1 the last one
    first, 0 all at the same time."""

    turns = 1

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.library = load_library(lib)

    def __call__(
        self,
        *bufs: HostMemory,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...],
        vals: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        addresses = (ctypes.c_void_p * len(bufs))(*[buf.address for buf in bufs])
        values = (ctypes.c_longlong * len(vals))(*vals)
        sizes = [(ctypes.c_int * 3)(*size) for size in (global_size, local_size)]
        failed = self.library.launch(addresses, values, *sizes, self.turns)
        if failed == 2:
            raise OutOfBounds(f"kernel {self.name}")
        if failed:
            raise RuntimeError(f"{math.prod(local_size)} threads cannot be started")
        return 0.0 if wait else None


class Backwards(BlocksRunner):
    """The threads of a block one after the other, the last one first."""

    turns = -1


class AtOnce(BlocksRunner):
    """All threads of a block at the same time."""

    turns = 0


@functools.cache
def _compiler() -> ClangCompiler:
    # nothing is optimized: hundreds of kernels are compiled here, and run once
    return ClangCompiler(find_compiler(settings.CC), ("-O0", "-pthread"))


class BlocksDevice(Compiled):
    def __init__(self, device: str = "BLOCKS", runner: Any = BlocksRunner) -> None:
        super().__init__(device, HostAllocator(), BlocksLanguage(), _compiler(), runner)


def register() -> None:
    Device._devices["BLOCKS"] = BlocksDevice
