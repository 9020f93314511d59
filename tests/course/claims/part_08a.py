"""What the last page of 8a claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from classroom.mini import own_c
from tests.course.claims import claim


def parts(*names: str) -> list[Any]:
    own_c.module("part7c")
    return [own_c.module(name) for name in names]


def product(mini: Any, n: int = 16) -> Any:
    a, b = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
    return own_c.program_of(mini.Tensor(a) @ mini.Tensor(b)), a, b


def programs_made(mini: Any, rate: Any, size: int) -> int:
    mini.plan.cache_clear()
    mini.runner.cache_clear()
    w = mini.Tensor(np.ones(size))
    with own_c.on(mini.PythonRunner):
        for n in range(1, 6):
            w = (w - rate(n) * w).realize()
    return mini.runner.cache_info().misses


@claim("C is told where an array's memory begins, but not its shape or order.")
def a_transposed_array_is_the_same_to_c():
    one, other = np.random.default_rng(0).random((2, 3, 5), dtype=np.float32)
    half = own_c.fade(own_c.fade_in_c(), one, other, 0.5)
    assert np.allclose(half, (one + other) / 2)

    def as_it_lies(one, other):
        out = np.empty(one.shape, np.float32)
        addresses = (own_c.ctypes.c_void_p(array.ctypes.data) for array in (out, one, other))
        own_c.fade_in_c()(*addresses, own_c.ctypes.c_float(0.5), out.size)
        return out

    got = as_it_lies(one.T, other.T)
    assert not np.allclose(got, half.T) and np.array_equal(got.ravel(), half.ravel())


@claim(
    "The same formula may differ on two devices, and if they add in different orders, both can be "
    "right."
)
def two_sums_of_one_list():
    (mini,) = parts("part8")
    numbers = [2.0**24, *[1.0] * 30, -(2.0**24)]
    sums = []
    for device in (mini.CRunner, None):
        with own_c.on(device):
            sums.append(float(mini.Tensor(numbers).sum().numpy()))
    in_order, by_eights = np.float32(0), np.zeros(8, np.float32)
    for number in numbers:
        in_order += np.float32(number)
    for row in np.float32(numbers).reshape(-1, 8):
        by_eights += row
    assert sums[0] == in_order == 0 and sums[1] == float(by_eights.sum()) != 0
    assert math.fsum(numbers) == 30


@claim(
    "A program is found again if its numbered graph is the same: a constant is part of it, memory "
    "isn't."
)
def constants_are_in_the_key():
    (mini,) = parts("part8")
    a, b, c, d = (mini.Tensor(np.ones(4) * n) for n in range(4))

    def key(tensor):
        return mini.numbered(mini.UOp(mini.Ops.SINK, (tensor.uop,)))[0]

    assert key(a + b) is key(c + d)
    assert key(a * 2) is not key(a * 3)


@claim("After its first call, a captured step runs its kernels, and none of its Python.")
def the_function_is_called_once():
    (mini,) = parts("part8")
    total, calls, launched = mini.Tensor([0.0]), [], []

    class Counted(mini.CRunner):
        def __call__(self, *arrays):
            launched.append(1)
            super().__call__(*arrays)

    def add(x):
        calls.append(1)
        total.uop = (total + x).uop
        return (x * 2).realize(total)

    with own_c.on(Counted):
        step, counts = mini.jit(add, [total], Counted), []
        for n in range(4):
            before = len(launched)
            step(mini.Tensor([float(n)]))
            counts.append(len(launched) - before)
    assert len(calls) == 1 and total.numpy().tolist() == [6.0]
    assert counts[0] and set(counts) == {counts[0]}


@claim("A tile of 8 rows and 8 lanes takes 9 loads for 64 multiplications, where there were 128.")
def nine_loads():
    mini, part7b, part7c = parts("part8", "part7b", "part7c")
    program, _, _ = product(mini)

    def counted(program):
        nodes = program.toposort()
        times = [u for u in nodes if u.op is mini.Ops.MUL and u.dtype is float]
        loads = sum(u.op is mini.Ops.LOAD for u in nodes)
        return loads, sum(part7b.lanes(u) or 1 for u in times)

    loads, times = counted(program)
    assert 64 / times * loads == 128
    assert counted(part7c.upcast(part7c.vector(program, 1, 8), 0, 8)) == (9, 64)


@claim("If C and NumPy disagree, one of them has a bug.")
def the_witness_agrees_with_c():
    (mini,) = parts("part8")
    numbers, sums = [2.0**24, *[1.0] * 30, -(2.0**24)], []
    for device in (mini.CRunner, mini.PythonRunner, None):
        with own_c.on(device):
            sums.append(float(mini.Tensor(numbers).sum().numpy()))
    assert sums[0] == sums[1] != sums[2]


@claim("A learning rate is only a number.")
def a_number_that_changes_is_a_program_each_time():
    (mini,) = parts("part8")
    assert programs_made(mini, lambda n: 0.1 / n, 3) == 5
    assert programs_made(mini, lambda n: 0.1, 4) == 1
    assert programs_made(mini, lambda n: mini.Tensor([0.1 / n]), 5) == 1


@claim("Rearranged loops add up in a different order.")
def each_sum_keeps_its_order():
    mini, part7b, part7c = parts("part8", "part7b", "part7c")
    program, a, b = product(mini)
    ways = [
        program,
        part7c.upcast(program, 0, 8),
        part7c.upcast(part7c.upcast(program, 1, 4), 0, 4),
        part7c.reorder(program, 1, 0),
    ]
    results = []
    for way in ways:
        results.append(np.empty((16, 16), np.float32))
        mini.PythonRunner(part7b.linearize(way))(results[-1], a, b)
    assert all(np.array_equal(results[0], other) for other in results)
