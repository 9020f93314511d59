"""Part 4: what its last pages claim."""

from __future__ import annotations

import numpy as np

from classroom.ask import kernels
from classroom.lessons.memory_that_changes.shared import times_computed
from classroom.measure import stages_run
from tests.course.claims import claim, memory
from tinyframe import GlobalCounters, Tensor
from tinyframe.device import buffer_of
from tinyframe.uop import Ops


def kernels_run(*tensors: Tensor) -> int:
    before = GlobalCounters.kernel_count
    Tensor.realize(*tensors)
    return GlobalCounters.kernel_count - before


def count(tensor: Tensor, op: Ops) -> int:
    return sum(u.op is op for u in tensor.uop.toposort())


def exponentials(tensor: Tensor) -> int:
    """How often computing a Tensor takes an exponential."""
    return times_computed(tensor.schedule(), Ops.EXP2)


# ---- 4a ------------------------------------------------------------------------------------------


@claim("A Tensor holds memory or an expression, and realize() replaces the expression with memory.")
def realize_replaces_a_plan_by_memory():
    a = memory(6)
    expression = (a + 1) * a
    assert a.uop.op is Ops.BUFFER and expression.uop.op is Ops.MUL
    assert expression.realize().uop.op is Ops.BUFFER


@claim("Building an expression runs no kernel, and neither does looking at its shape.")
def building_and_looking_run_nothing():
    a = memory(6)
    before = GlobalCounters.kernel_count
    expression = ((a + 1) * a).sum()
    assert expression.shape == () and expression.dtype is a.dtype
    assert GlobalCounters.kernel_count == before and kernels_run(expression) == 1


@claim("Equal nodes are one node, however often you write them.")
def sixty_doublings_are_sixty_nodes():
    a = memory(3)
    assert (a * a + 1).uop is (a * a + 1).uop
    t = a
    for _ in range(60):
        t = t + t
    assert count(t, Ops.ADD) == 60
    assert np.allclose(t.numpy(), a.numpy() * 2.0**60)


@claim("print(y) has to compute y.")
def printing_runs_no_kernel():
    y = memory(5) + 1
    before = GlobalCounters.kernel_count
    assert "ADD" in str(y) and "float" in str(y) and "5" in str(y)
    assert GlobalCounters.kernel_count == before and y.uop.op is Ops.ADD
    y.tolist()
    assert GlobalCounters.kernel_count == before + 1


@claim("a + b and b + a are the same node.")
def the_order_of_sources_counts():
    a, b = memory(4), memory(4) + 0
    assert (a + b).uop is not (b + a).uop and (a + b).uop is (a + b).uop
    assert np.array_equal((a + b).numpy(), (b + a).numpy())


@claim("An expression twice as long has a graph twice as large.")
def what_repeats_adds_one_node():
    a, b = memory(4), memory(4) + 0
    once = a * b + a
    assert len((once * (a * b + a)).uop.toposort()) == len(once.uop.toposort()) + 1


@claim("Realizing A doesn't help B.")
def what_is_computed_for_one_is_computed_for_all():
    a = memory(4)
    A, B = a.exp() + 1, a.exp() + 1
    C = (a.exp() + 1).sum()
    assert kernels_run(A) == 1 and kernels_run(B) == 0
    assert exponentials(C) == 0


# ---- 4b ------------------------------------------------------------------------------------------


@claim("Operations that share a loop share a kernel, however many there are.")
def a_loop_is_a_kernel():
    a = memory(64, 64)
    t = a
    for _ in range(60):
        t = t + a
    assert kernels(t) == 1 and kernels(a.softmax(axis=1)) == 1


@claim(
    "A new kernel starts when many results, computed in parallel, each need the complete value of "
    "something, or when a value would cost too much to compute again wherever it's needed."
)
def every_quotient_needs_the_whole_sum():
    a = memory(64, 64)
    assert kernels(a.exp() @ a) == 2 and kernels((a + a) @ a) == 1
    assert exponentials(a.exp() @ a) == 64 * 64
    assert kernels(a / a.sum()) == 2 and kernels(a.sum() + 1) == 1
    rows = a / a.sum(axis=1, keepdim=True)
    assert kernels(rows) == 1
    assert kernels(rows / rows.sum(axis=0, keepdim=True)) == 2


@claim(
    "Each kernel starts from memory and ends in memory, and what happens in between is stored "
    "nowhere."
)
def only_results_and_cuts_get_memory():
    a = memory(64, 64)
    one, two = (((a + 1) * a).exp() - a).schedule(), (a / a.sum()).schedule()
    assert [len(item.bufs) for item in one] == [2]  # the result and `a`
    assert [len(item.bufs) for item in two] == [2, 3]
    assert two[0].bufs[0] in two[1].bufs


@claim("Each operation is a kernel.")
def sixty_additions_are_one_kernel():
    a = memory(64, 64)
    t, shares = a, a
    for _ in range(60):
        t = t + a
    for _ in range(6):
        shares = shares / shares.sum(axis=1, keepdim=True)
    assert kernels_run(t) == 1 and kernels(shares) == 1


@claim("A reduction ends a kernel.")
def a_row_is_summed_and_divided_in_one_loop():
    a = memory(64, 64)
    assert kernels(a / a.sum(axis=1, keepdim=True)) == 1
    assert kernels(a / a.sum()) == 2


@claim("Fewer kernels are always better.")
def one_kernel_takes_each_exponential_again():
    a, b = memory(64, 64), memory(64, 64)
    fused, apart = (a.exp() @ b).fuse(), a.exp() @ b
    assert (kernels(fused), kernels(apart)) == (1, 2)
    assert exponentials(fused) == 64 * 64 * 64 and exponentials(apart) == 64 * 64


# ---- 4c ------------------------------------------------------------------------------------------


@claim("An expression holds no values: what isn't stored is computed again by every call.")
def a_plan_is_computed_by_every_call():
    u = memory(50)
    waves = u.exp()
    assert [exponentials((waves * k).sum()) for k in (2, 3)] == [50, 50]
    waves = waves.contiguous()
    first, second = ((waves * k).sum() for k in (2, 3))
    assert exponentials(first) == 50 and exponentials(second) == 0


@claim("A result keeps the values of the moment you wrote it down, and a view sees every change.")
def results_are_old_and_views_are_new():
    x = Tensor([1, 2, 3]).realize()
    result, view = x * 10, x[1:]
    x.assign(x + 1)
    assert x.tolist() == [2, 3, 4]
    assert result.tolist() == [10, 20, 30] and view.tolist() == [3, 4]


@claim("Memory is written in place only once nobody needs the old values any more.")
def a_change_in_place_is_seen_by_nobody():
    x = memory(50)
    place = buffer_of(x.uop)
    x.assign(x * 2).realize()
    assert buffer_of(x.uop) is place
    old = x.numpy().copy()
    total = x.sum()
    x.assign(x * 2).realize()  # the sum is computed first, and then the memory is free
    assert buffer_of(x.uop) is place and np.allclose(total.numpy(), old.sum())
    old, twin = x.numpy().copy(), x.double()
    x.assign(x * 2).realize()
    assert buffer_of(x.uop) is not place and np.array_equal(twin.numpy(), old)


@claim("The same expression over new numbers is scheduled once.")
def the_second_time_nothing_is_planned():
    def planned(size: int) -> int:
        x = memory(size)
        return stages_run(lambda: ((x + 1) * x).exp().realize())

    assert planned(83) > 0 and planned(83) == 0 and planned(89) > 0


@claim("What I used three times was computed once.")
def three_calls_compute_three_times():
    u = memory(50)
    assert exponentials(u.exp() * u.exp() + u.exp()) == 50
    waves = u.exp()
    assert sum(exponentials((waves * k).sum()) for k in (2, 3, 4)) == 150


@claim("An expression that runs later shows later values.")
def a_plan_shows_the_values_of_its_time():
    x = Tensor([1.0, 2.0]).realize()
    expression = x + 0.5
    x.assign(x * 100).realize()
    assert expression.tolist() == [1.5, 2.5]


@claim("assign always writes in place.")
def it_does_not_while_somebody_needs_the_old_values():
    x = memory(50)
    place, old, twin = buffer_of(x.uop), x.numpy().copy(), x.double()
    x.assign(x + 1).realize()
    assert buffer_of(x.uop) is not place and np.array_equal(twin.numpy(), old)
    a = memory(3)
    A, B = a + 1, a + 1
    Tensor.realize(A, B)
    assert buffer_of(A.uop.base) is buffer_of(B.uop.base)
    kept = B.numpy().copy()
    A[0] = 100
    A.realize()
    assert np.array_equal(B.numpy(), kept)
    assert buffer_of(A.uop.base) is not buffer_of(B.uop.base)


@claim("Reading and writing the same memory goes wrong.")
def new_values_are_computed_first_where_it_would():
    x = memory(50)
    old, place = x.numpy().copy(), buffer_of(x.uop)
    before = GlobalCounters.kernel_count
    x[1:] = x[:-1]
    x.realize()
    assert GlobalCounters.kernel_count == before + 2 and buffer_of(x.uop) is place
    assert np.array_equal(x.numpy(), [old[0], *old[:-1]])
