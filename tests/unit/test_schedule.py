"""Schedules: the cache, what graphs become, changes in place, copies, and memory that is reused."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, kernels_of, numbers, on_buffer, schedule_of
from tinyframe import Context, Tensor, dtypes
from tinyframe import schedule as schedule_module
from tinyframe.device import buffer_of
from tinyframe.run.realize import run_schedule
from tinyframe.schedule import ScheduleItem, create_schedule, share_memory
from tinyframe.schedule.kernels import Kernel
from tinyframe.uop import movement
from tinyframe.uop.movement import base_of, memory_of, memory_state, stored_state, stored_view
from tinyframe.uop.node import Ops, UOp


@pytest.fixture
def plans(monkeypatch):
    """An empty schedule cache."""
    monkeypatch.setattr(schedule_module, "_schedules", {})
    return schedule_module._schedules


# ---- create_schedule ----------------------------------------------------------------------------


def test_an_item_is_a_kernel_and_its_buffers_outputs_first():
    a, b = filled(numbers(3, 4)), filled(numbers(4, 5))
    (item,) = schedule_of(a @ b)
    assert isinstance(item, ScheduleItem)
    assert item.ast.op is Ops.SINK
    assert [buffer.size for buffer in item.bufs] == [15, 12, 20]
    assert item.bufs[1:] == (buffer_of(a.uop.base), buffer_of(b.uop.base))


def test_what_a_graph_becomes_is_on_real_buffers():
    t = filled(numbers(3))
    y = (t + 1).reshape(3, 1)
    items, becomes, var_vals = create_schedule(UOp.sink(y.uop))
    run_schedule(items, var_vals)
    result = becomes[y.uop]
    assert result.shape == (3, 1) and result.base.op is Ops.BUFFER and var_vals == {}
    np.testing.assert_array_equal(buffer_of(result.base).numpy(), numbers(3) + 1)


def test_an_expanded_result_is_stored_once_for_each_value():
    y = (filled(numbers(3, 1)) + 1).expand(3, 1000).realize()
    assert y.uop.base.op is Ops.BUFFER
    assert y.uop.base.arg == 3
    np.testing.assert_array_equal(y.numpy()[:, 999:], numbers(3, 1) + 1)


# ---- kernelize ----------------------------------------------------------------------------------


def test_kernelize_leaves_an_assign_of_a_kernel():
    y = (filled(numbers(3)) + 1) * 2
    y.kernelize()
    assert y.uop.op is Ops.ASSIGN
    buffer, kernel = y.uop.src
    assert (buffer.op, kernel.op) == (Ops.BUFFER, Ops.KERNEL)
    assert kernel.arg.ast.op is Ops.SINK
    assert kernel.src[0] is buffer and y.shape == (3,)
    assert not buffer_of(buffer).is_allocated(), "nothing runs"


def test_what_was_kernelized_goes_on_as_a_graph():
    t = filled(numbers(3, 4))
    a = t + 1
    total = a.sum().kernelize()
    result = total * 2 + a
    np.testing.assert_array_equal(result.numpy(), (numbers(3, 4) + 1).sum() * 2 + numbers(3, 4) + 1)
    again = (result.kernelize() - total).kernelize()
    assert len(kernels_of(again)) == 1
    np.testing.assert_array_equal(again.numpy(), (numbers(3, 4) + 1).sum() + numbers(3, 4) + 1)


def test_kernels_that_wait_for_each_other_are_linked():
    a = (filled(numbers(3)) + 1).kernelize()
    b = (a * 2).kernelize()
    assert a.uop in b.uop.src[1].src


def test_a_kernelized_change_in_place_is_made_once():
    t = filled(numbers(3))
    t.assign(t + 1).kernelize()
    y = t * 2
    np.testing.assert_array_equal(y.numpy(), (numbers(3) + 1) * 2)
    np.testing.assert_array_equal(t.numpy(), numbers(3) + 1)
    z = (t * 3).kernelize()
    np.testing.assert_array_equal(z.numpy(), (numbers(3) + 1) * 3)
    np.testing.assert_array_equal(t.numpy(), numbers(3) + 1)


def test_several_kernels_at_once():
    t = filled(numbers(30))
    total = t.sum()
    share = t / 4 + total
    Tensor.kernelize(total, share)
    kernels = [u.arg for u in UOp.sink(total.uop, share.uop).toposort() if u.op is Ops.KERNEL]
    assert len(kernels) == 2
    assert all(isinstance(kernel, Kernel) for kernel in kernels)
    total.realize()
    np.testing.assert_array_equal(share.numpy(), numbers(30) / 4 + numbers(30).sum())


# ---- the schedule cache -------------------------------------------------------------------------


def test_the_same_structure_on_other_buffers_is_scheduled_once(plans):
    for seed in range(3):
        a, b = numbers(4, 5, seed=seed), numbers(5, 6, seed=seed + 9)
        product = filled(a) @ filled(b)
        plans_before = len(plans)
        np.testing.assert_array_equal(product.relu().numpy(), np.maximum(a @ b, 0))
        assert len(plans) == plans_before + (seed == 0)


def test_one_buffer_twice_is_another_structure_than_two_buffers(plans):
    x, y = numbers(4), numbers(4, seed=1)
    a, b = filled(x), filled(y)
    np.testing.assert_array_equal((a + b).numpy(), x + y)
    np.testing.assert_array_equal((a + a).numpy(), x + x)


def test_other_settings_are_another_schedule(plans):
    t = filled(numbers(4))
    plans.clear()
    assert (t + 1).tolist() == (numbers(4) + 1).tolist()
    with Context(NOOPT=1):
        assert (t + 1).tolist() == (numbers(4) + 1).tolist()
    assert len(plans) == 2


def test_the_cache_has_an_end(plans, monkeypatch):
    monkeypatch.setattr(schedule_module, "CACHE_SIZE", 3)
    x = on_buffer(4)
    for n in range(6):
        schedule_of(x + float(n))
    assert len(plans) == 3


def test_cached_schedules_keep_no_buffers():
    t = filled(numbers(1000))
    y = (t + 1).realize()
    from tinyframe import GlobalCounters

    before = GlobalCounters.mem_used
    del t, y
    assert GlobalCounters.mem_used == before - 2 * 4000


def test_what_is_read_between_two_assigns_sees_the_value_between():
    t, x = filled(numbers(4, 5)), numbers(4, 5)
    t.assign(t + 1)
    between, turned, total, copy = t * 3, t.T.contiguous(), t.sum(), t.to("PYTHON")
    t.assign(t * 10)
    Tensor.realize(t, total, between, copy, turned)
    np.testing.assert_array_equal(between.numpy(), (x + 1) * 3)
    np.testing.assert_array_equal(turned.numpy(), (x + 1).T)
    np.testing.assert_array_equal(copy.numpy(), x + 1)
    assert total.item() == (x + 1).sum()
    np.testing.assert_array_equal(t.numpy(), (x + 1) * 10)


# ---- copies between devices ---------------------------------------------------------------------


def test_a_copy_stands_between_the_kernels_of_two_devices():
    t = filled(numbers(3, 4))
    there = (t + 1).to("PYTHON") * 2
    items = schedule_of(there.to("CPU").sum(axis=1))
    assert [item.ast.op for item in items] == [Ops.SINK, Ops.COPY, Ops.SINK, Ops.COPY, Ops.SINK]
    assert [item.bufs[0].device for item in items] == ["CPU", "PYTHON", "PYTHON", "CPU", "CPU"]
    result = there.to("CPU").sum(axis=1)
    np.testing.assert_array_equal(result.numpy(), ((numbers(3, 4) + 1) * 2).sum(1))


def test_what_is_in_memory_is_copied_as_it_is_and_views_are_made_contiguous():
    t = filled(numbers(3, 4))
    assert [item.ast.op for item in schedule_of(t.to("PYTHON"))] == [Ops.COPY]
    assert [item.ast.op for item in schedule_of(t.T.to("PYTHON"))] == [Ops.SINK, Ops.COPY]
    np.testing.assert_array_equal(t.T.to("PYTHON").numpy(), numbers(3, 4).T)


def test_a_constant_is_not_copied():
    twos = Tensor.full((3,), 2.0, device="CPU").to("PYTHON")
    assert schedule_of((twos + 1).contiguous())[0].ast.op is Ops.SINK


def test_a_copy_is_made_once():
    t = filled(numbers(3)).to("PYTHON")
    items = schedule_of(t + 1, t * 2)
    assert [item.ast.op for item in items].count(Ops.COPY) == 1


# ---- memory -------------------------------------------------------------------------------------


def test_intermediate_results_share_memory():
    x, weights = on_buffer(16, 16), [on_buffer(16, 16) for _ in range(8)]
    for w in weights:
        x = (x @ w).relu()
    items = schedule_of(x)
    assert len(items) == 8
    new = {buffer for item in items for buffer in item.bufs}
    new -= {buffer_of(w.uop.base) for w in weights}
    # the input, the output, and two in turn
    assert len(new) == 4


def new_buffers(*sizes: int) -> list[UOp]:
    return [on_buffer(size).uop.base for size in sizes]


def test_planner_gives_memory_on_when_its_last_user_has_run():
    a, b, c, d = new_buffers(8, 8, 8, 8)
    uses = [[a], [b, a], [c, b], [d, c]]
    assert share_memory(uses, {a, b, c, d}) == {c: a, d: b}
    assert share_memory([[a], [b]], {b}) == {}, "what lasts is left alone"
    half = on_buffer(8, dtype=dtypes.half).uop.base
    assert share_memory([[half], [b]], {half, b}) == {}
    large, small, other = new_buffers(100, 10, 50)
    places = share_memory([[large, small], [a], [other]], {large, small, a, other})
    assert places == {a: small, other: large}, "the smallest that fits"


@pytest.mark.parametrize("seed", range(20))
def test_planner_never_lets_two_live_buffers_share(seed):
    rng = np.random.default_rng(seed)
    buffers = new_buffers(*rng.integers(1, 20, 30).tolist())
    uses = [[buffers[n] for n in rng.choice(30, 3)] for _ in range(25)]
    place = share_memory(uses, set(buffers))
    life: dict[UOp, list[int]] = {}
    for n, used in enumerate(uses):
        for b in used:
            life.setdefault(b, []).append(n)
    for a, b in itertools.combinations(life, 2):
        if place.get(a, a) is place.get(b, b):
            assert life[a][-1] < life[b][0] or life[b][-1] < life[a][0]
            assert place.get(a, a).arg >= max(a.arg, b.arg)


def test_a_kernel_that_is_made_again_is_the_same_object():
    assert kernel_of(on_buffer(4, 5).sum(axis=1)) is kernel_of(on_buffer(4, 5).sum(axis=1))
    x = on_buffer(7)
    assert kernel_of(x + 1) is kernel_of(on_buffer(7) + 1)


# ---- in which order of axes a result is stored ---------------------------------------------------


def test_a_gradient_is_stored_in_the_order_of_its_parameter():
    x, w, grad_y = filled(numbers(6, 5)), filled(numbers(5, 3)), filled(numbers(6, 3))
    expected = x.numpy().T @ grad_y.numpy()
    w.requires_grad_(True)
    (x @ w).backward(grad_y)
    assert w.grad.uop.base is not w.grad.uop  # the sum is made in another order of axes
    base = Tensor(w.grad.uop.base)
    before, updated = w.numpy(), w.assign(w - w.grad * 2)
    kernels = kernels_of(updated, w.grad)
    assert len(kernels) == 1
    indices = [
        [i for i in store.src[0].src[2:] if i.op is not Ops.CONST] for store in kernels[0].src
    ]
    assert len(indices) == 2 and indices[0] == indices[1]  # both row by row
    Tensor.realize(updated, w.grad)
    np.testing.assert_array_equal(w.grad.numpy(), expected)
    np.testing.assert_array_equal(w.numpy(), before - 2 * expected)
    # whoever held the sum as it was made has it too, from the same memory
    assert kernels_of(base) == []
    np.testing.assert_array_equal(base.contiguous().numpy().reshape(3, 5), expected.T)


def test_a_result_that_nothing_else_uses_is_stored_as_it_is_made():
    x, w = on_buffer(6, 5), on_buffer(5, 3)
    (kernel,) = kernels_of((x @ w).T)
    assert kernel is kernels_of(x @ w)[0]


# ---- memory --------------------------------------------------------------------------------------


def test_what_five_functions_say_of_memory_is_what_is_written_beside_them():
    b = UOp.new_buffer("CPU", 6, dtypes.float)
    w = b.reshape((2, 3))
    a = w.assign(x := w + 1)
    v = a.permute((1, 0))
    r, p = v.reshape((6,)), v.shrink(((0, 1), (0, 2)))
    named = {"b": b, "w": w, "x": x, "a": a, "v": v, "r": r, "p": p, "-": None}
    functions = [base_of, memory_of, memory_state, stored_state, stored_view]
    page = Path(movement.__file__).read_text()
    for function in functions:
        (row,) = re.findall(rf"^#     {function.__name__} +((?:[a-z-] +){{6}})", page, re.MULTILINE)
        assert [function(u) for u in (w, x, a, v, r, p)] == [named[name] for name in row.split()]
