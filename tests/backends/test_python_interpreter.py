"""The PYTHON device: programs as text, and an interpreter that lets no wrong access through."""

from __future__ import annotations

import ast
import math

import ml_dtypes
import numpy as np
import pytest

from tinyframe.device import Buffer
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.runtime.python import (
    OutOfBounds,
    PythonRenderer,
    PythonRunner,
    UninitializedRead,
    parse,
)
from tinyframe.uop.node import AxisType, Ops, UOp

NUMPY = {dtype: np.dtype(dtype.fmt) for dtype in dtypes.all if dtype.fmt}
NUMPY[dtypes.bfloat16] = np.dtype(ml_dtypes.bfloat16)


class Program:
    """Builds a flat program; each method appends the UOp that it returns."""

    def __init__(self):
        self.uops = []

    def __call__(self, op, dtype=dtypes.void, src=(), arg=None):
        node = UOp(op, dtype, tuple(src), arg)
        if node not in self.uops:
            self.uops.append(node)
        return node

    def const(self, value, dtype=dtypes.int):
        return self(Ops.CONST, dtype, (), value)

    def argument(self, slot, size, dtype=dtypes.int):
        return self(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)

    def accumulator(self, number=0, dtype=dtypes.int):
        return self(Ops.DEFINE_REG, dtype.ptr(1, AddrSpace.REG), (), number)

    def panel(self, size, number=0, dtype=dtypes.int):
        return self(Ops.DEFINE_LOCAL, dtype.ptr(size, AddrSpace.LOCAL), (), number)

    def at(self, buffer, index, valid=None):
        index = self.const(index) if isinstance(index, int) else index
        valid = self.const(True, dtypes.bool) if valid is None else valid
        return self(Ops.INDEX, buffer.dtype, (buffer, valid, index))

    def load(self, buffer, index, valid=None, count=1):
        dtype = buffer.dtype.base
        dtype = dtype.vec(count) if count > 1 else dtype
        # Never merged with an earlier one: what is in memory may have changed since.
        place = self.at(buffer, index, valid)
        self.uops.append(UOp(Ops.LOAD, dtype, (place,), None, len(self.uops)))
        return self.uops[-1]

    def store(self, buffer, index, value, valid=None):
        value = self.const(value, buffer.dtype.base) if not isinstance(value, UOp) else value
        place = self.at(buffer, index, valid)
        self.uops.append(UOp(Ops.STORE, dtypes.void, (place, value), None, len(self.uops)))

    def loop(self, size, axis=0, kind=AxisType.LOOP):
        return self(Ops.RANGE, dtypes.int, (self.const(size),), (axis, kind))

    def end(self, loop):
        return self(Ops.ENDRANGE, dtypes.void, (loop,))

    def alu(self, op, *src, dtype=None):
        return self(op, dtype or src[-1].dtype, src)

    def run(self, *arrays, vals=()):
        """Runs on copies of the arrays, and gives back what is in them then."""
        text = PythonRenderer().render("test", self.uops)
        runner = PythonRunner("test", text.encode())
        bufs = []
        for array, line in zip(arrays, runner.arguments, strict=True):
            array = np.asarray(array, NUMPY[line.dtype.base])
            bufs.append(Buffer("PYTHON", array.size, line.dtype.base).copyin(array.tobytes()))
        runner(*[buf._buf for buf in bufs], vals=vals)
        return [buf.numpy() for buf in bufs]


# *** programs as text ***


def test_a_program_is_text_of_one_literal_a_line():
    p = Program()
    out, x = p.argument(0, 4, dtypes.float), p.argument(1, 4, dtypes.float)
    i = p.loop(4)
    p.store(out, i, p.alu(Ops.ADD, p.load(x, i), p.const(1.5, dtypes.float)))
    p.end(i)
    text = PythonRenderer().render("E_4", p.uops)
    lines = text.splitlines()
    assert lines[0].startswith("# E_4")
    assert len(lines) == len(p.uops) + 1
    for number, line in enumerate(lines[1:]):
        assert ast.literal_eval(line)[0][0] == number
    assert '(0, "DEFINE_GLOBAL", "float.ptr(4)", (), 0),' in lines


@pytest.mark.parametrize(
    "dtype",
    [dtypes.int, dtypes.bool.vec(3), dtypes.void, dtypes.half.ptr(7), dtypes.long.ptr(-1),
     dtypes.float.vec(4).ptr(1, AddrSpace.REG), dtypes.uchar.ptr(9, AddrSpace.LOCAL)],
)  # fmt: skip
def test_dtypes_come_back_from_text(dtype):
    text = PythonRenderer().render("test", [UOp(Ops.NOOP, dtype)])
    assert parse(text)[0].dtype is dtype


@pytest.mark.parametrize("value", [0.0, -0.0, math.inf, -math.inf, math.nan, 0.1, 1e-40, 3e38])
def test_constants_keep_their_bits(value):
    p = Program()
    p.store(p.argument(0, 1, dtypes.double), 0, value)
    (out,) = p.run([7.0])
    assert np.float64(value).tobytes() == out.tobytes()


def test_text_that_is_no_literal_is_not_run():
    with pytest.raises((ValueError, SyntaxError)):
        PythonRunner("test", b'(0, "CONST", "int", (), __import__("os").getpid()),')


# *** elementwise ops ***

# *** structure ***


def test_a_loop_over_a_variable_and_arguments_in_order_of_slot_and_name():
    p = Program()
    n = p(Ops.DEFINE_VAR, dtypes.int, (), ("n", 0, 9))
    m = p(Ops.DEFINE_VAR, dtypes.int, (), ("m", 0, 9))
    x, out = p.argument(3, 4), p.argument(1, 4)
    i = p(Ops.RANGE, dtypes.int, (n,), (0, AxisType.LOOP))
    p.store(out, i, p.alu(Ops.ADD, p.load(x, i), m))
    p.end(i)
    assert p.run([0] * 4, [1, 2, 3, 4], vals=(5, 3))[0].tolist() == [6, 7, 8, 0]


def test_there_may_be_more_loops_around_each_other_than_python_takes():
    p = Program()
    out = p.argument(0, 1)
    loops = [p.loop(2 if axis in (0, 17, 39) else 1, axis) for axis in range(40)]
    p.store(out, 0, p.alu(Ops.ADD, p.load(out, 0), p.alu(Ops.ADD, loops[17], p.const(1))))
    for loop in reversed(loops):
        p.end(loop)
    assert p.run([0])[0].tolist() == [2 * 2 * (1 + 2)]


def test_an_op_that_cannot_be_run_is_named():
    p = Program()
    p(Ops.REDUCE, dtypes.int, (), None)
    with pytest.raises(NotImplementedError, match="cannot run Ops.REDUCE, line 0"):
        p.run()


# *** memory ***


def test_a_load_whose_condition_fails_gives_zero_and_reads_nothing():
    for lanes, index in ((1, -5), (1, 10**9), (2, -1), (4, 1)):
        p = Program()
        out, x = p.argument(0, 4), p.argument(1, 4)
        false = p.const(False, dtypes.bool)
        p.store(out, 0, p.load(x, index, false, count=lanes))
        assert p.run([7] * 4, [1] * 4)[0].tolist() == [0] * lanes + [7] * (4 - lanes)


def test_a_store_whose_condition_fails_writes_nothing():
    p = Program()
    p.store(p.argument(0, 4), 99, 5, p.const(False, dtypes.bool))
    assert p.run([1] * 4)[0].tolist() == [1] * 4


@pytest.mark.parametrize(("index", "lanes"), [(-1, 1), (4, 1), (-4, 1), (1, 4), (-1, 2), (4, 2)])
def test_an_index_outside_is_an_error_that_names_all(index, lanes):
    place = f"\\[{index}\\]" if lanes == 1 else f"\\[{index}:{index + lanes}\\]"
    p = Program()
    out, x = p.argument(0, 8), p.argument(1, 4)
    p.store(out, 0, p.load(x, index, count=lanes))
    with pytest.raises(OutOfBounds, match=f"kernel test, line .*LOAD reads data1{place}.* 4 ele"):
        p.run([0] * 8, [0] * 4)
    p = Program()
    out, x = p.argument(0, 4), p.argument(1, 8)
    p.store(out, index, p.load(x, 0, count=lanes))
    with pytest.raises(IndexError, match=f"STORE writes data0{place}.*4 elements"):
        p.run([0] * 4, [0] * 8)


def test_scratch_memory_has_bounds_too():
    p = Program()
    p.store(p.panel(3, 5), 3, 1)
    with pytest.raises(OutOfBounds, match=r"panel5\[3\], which has 3 elements"):
        p.run()


def test_the_bounds_are_the_kernels_even_where_the_memory_is_larger():
    p = Program()
    p.store(p.argument(0, 4), 4, 1)
    with pytest.raises(OutOfBounds):
        p.run([0] * 8)


def test_memory_smaller_than_the_argument_is_refused():
    p = Program()
    p.store(p.argument(0, 4), 0, 1)
    with pytest.raises(OutOfBounds, match="argument 0 is dtypes.int.ptr.4., 16 bytes.*given 12"):
        p.run([0] * 3)


@pytest.mark.parametrize("lanes", [1, 2])
def test_scratch_memory_must_be_written_before_it_is_read(lanes):
    p = Program()
    out, panel = p.argument(0, 2), p.panel(2)
    p.store(panel, 0, 1)
    p.store(out, 0, p.load(panel, 2 - lanes, count=lanes))
    with pytest.raises(UninitializedRead, match=r"panel0\[.*before anything was written"):
        p.run([0, 0])


def test_an_accumulator_starts_anew_where_it_is_defined():
    p = Program()
    out = p.argument(0, 2)
    i = p.loop(2)
    acc = p.accumulator()
    first = p.alu(Ops.CMPEQ, i, p.const(0), dtype=dtypes.bool)
    p.store(acc, 0, 1, first)
    p.store(out, i, p.load(acc, 0))
    p.end(i)
    with pytest.raises(UninitializedRead, match=r"acc0\[0\]"):
        p.run([0, 0])


# *** around a run ***


def test_an_error_leaves_the_program_and_earlier_results_usable():
    p = Program()
    out = p.argument(0, 4)
    n = p(Ops.DEFINE_VAR, dtypes.int, (), ("n", 0, 9))
    p.store(out, n, 5)
    runner = PythonRunner("test", PythonRenderer().render("test", p.uops).encode())
    buf = Buffer("PYTHON", 4, dtypes.int).copyin(bytes(16))
    runner(buf._buf, vals=(1,))
    with pytest.raises(OutOfBounds):
        runner(buf._buf, vals=(4,))
    runner(buf._buf, vals=(3,))
    assert buf.numpy().tolist() == [0, 5, 0, 5]
