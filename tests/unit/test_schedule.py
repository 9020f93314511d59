"""Schedules: the cache, what graphs become, changes in place, copies, and memory that is reused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.kernels import (
    filled,
    kernel_of,
    kernels_of,
    numbers,
    on_buffer,
    schedule_of,
)
from tinyframe import Context, Tensor, Variable
from tinyframe import schedule as schedule_module
from tinyframe.device import buffer_of
from tinyframe.run.realize import run_schedule
from tinyframe.schedule import ScheduleItem, create_schedule, kernelize, share_memory
from tinyframe.schedule.kernels import Kernel
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
    assert result.shape == (3, 1)
    assert result.base.op is Ops.BUFFER
    np.testing.assert_array_equal(buffer_of(result.base).numpy(), numbers(3) + 1)
    assert var_vals == {}


def test_there_is_nothing_to_run_for_what_is_there():
    t = filled(numbers(3, 4))
    assert schedule_of(t, t.T, t.reshape(12)) == []
    assert create_schedule(UOp.sink()) == ([], {}, {})


def test_a_value_that_is_asked_for_twice_is_computed_once():
    y = filled(numbers(3)) + 1
    assert len(schedule_of(y, y, y.reshape(3, 1))) == 1


def test_a_view_and_what_it_is_a_view_of_are_realized_together():
    y = filled(numbers(3, 4)) + 1
    turned, part = y.T, y[1:]
    Tensor.realize(turned, part)
    assert turned.uop.base is part.uop.base is y.uop.base
    assert y.uop.base.op is Ops.BUFFER
    np.testing.assert_array_equal(turned.numpy(), (numbers(3, 4) + 1).T)
    np.testing.assert_array_equal(part.numpy(), (numbers(3, 4) + 1)[1:])


def test_an_expanded_result_is_stored_once_for_each_value():
    y = (filled(numbers(3, 1)) + 1).expand(3, 1000).realize()
    assert y.uop.base.op is Ops.BUFFER
    assert y.uop.base.arg == 3
    np.testing.assert_array_equal(y.numpy()[:, 999:], numbers(3, 1) + 1)


def test_several_outputs_of_different_sizes():
    x, w = numbers(6, 8), numbers(8, 5, seed=1)
    tx, tw = filled(x), filled(w)
    product = tx @ tw
    results = product, product.sum(), tx.T.contiguous(), tx.max(axis=1), (tx + 1)[2:4].contiguous()
    Tensor.realize(*results)
    expected = x @ w, (x @ w).sum(), x.T, x.max(1), (x + 1)[2:4]
    for found, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), right)


def test_tensors_that_share_a_graph_share_the_result():
    a = filled(numbers(4)) + 1
    b = a * 2
    twin = Tensor(b.uop)
    b.realize()
    assert twin.uop is b.uop


@pytest.mark.parametrize(
    ("graph", "shape", "value"),
    [
        (lambda t: t + 1, (0, 3), []),
        (lambda t: t.sum(), (), 0.0),
        (lambda t: t.sum(axis=0), (3,), [0.0] * 3),
        (lambda t: t.max(axis=0), (3,), [-np.inf] * 3),
        (lambda t: t.prod(axis=0) * 2, (3,), [2.0] * 3),
        (lambda t: t.T.sum(axis=1) + 1, (3,), [1.0] * 3),
        (lambda t: t.T @ t, (3, 3), [[0.0] * 3] * 3),
        (lambda t: t @ Tensor.ones(3, 2), (0, 2), []),
        (lambda t: t.pad(((1, 1), (0, 0))), (2, 3), [[0.0] * 3] * 2),
        (lambda t: t.contiguous().reshape(3, 0), (3, 0), [[], [], []]),
    ],
)
def test_tensors_of_no_elements(graph, shape, value):
    result = graph(filled(np.zeros((0, 3), np.float32)))
    assert result.shape == shape
    assert result.realize().tolist() == value


def test_constants_need_no_kernel_until_they_are_stored():
    c = Tensor.full((3, 4), 2.0)
    assert c.schedule() == []
    assert len(kernels_of(c.contiguous())) == 1
    assert c.tolist() == [[2.0] * 4] * 3


# ---- kernelize ----------------------------------------------------------------------------------


def test_kernelize_leaves_an_assign_of_a_kernel():
    y = (filled(numbers(3)) + 1) * 2
    y.kernelize()
    assert y.uop.op is Ops.ASSIGN
    buffer, kernel = y.uop.src
    assert (buffer.op, kernel.op) == (Ops.BUFFER, Ops.KERNEL)
    assert kernel.arg.ast.op is Ops.SINK
    assert kernel.src[0] is buffer
    assert y.shape == (3,)


def test_what_was_kernelized_can_be_realized():
    y = ((filled(numbers(3)) + 1) * 2).kernelize()
    buffer = y.uop.src[0]
    np.testing.assert_array_equal(y.numpy(), (numbers(3) + 1) * 2)
    assert y.uop is buffer


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


def test_kernelize_maps_nodes_and_runs_nothing():
    y = filled(numbers(3)) + 1
    result = kernelize(UOp.sink(y.uop))[y.uop]
    assert result.op is Ops.ASSIGN
    assert not buffer_of(result.src[0]).is_allocated()


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
    np.testing.assert_array_equal((b + a * 1.0).numpy(), x + y)


def test_every_value_of_a_variable_has_the_same_schedule(plans):
    t, i = filled(np.arange(4, dtype=np.int32)), Variable("i", 1, 10)
    plans.clear()
    for value in (4, 7, 4):
        graph = (t * Tensor(i.bind(value)) + Tensor(i.bind(value))).uop
        items, becomes, var_vals = create_schedule(UOp.sink(graph))
        assert var_vals == {i: value}
        run_schedule(items, var_vals)
        np.testing.assert_array_equal(
            buffer_of(becomes[graph]).numpy(), np.arange(4) * value + value
        )
    assert len(plans) == 1


def test_a_variable_has_one_value_in_what_is_realized_together():
    t, i = filled(np.arange(4, dtype=np.int32)), Variable("i", 1, 10)
    with pytest.raises(ValueError, match="'i' is bound to 4 and to 5"):
        (t * Tensor(i.bind(4)) + Tensor(i.bind(5))).realize()


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


# ---- changes in place ---------------------------------------------------------------------------


def test_assign_writes_where_the_tensor_is():
    t = filled(numbers(5))
    buffer = buffer_of(t.uop)
    t.assign(t * 2).realize()
    assert buffer_of(t.uop) is buffer
    np.testing.assert_array_equal(buffer.numpy(), numbers(5) * 2)


def test_several_assigns_keep_their_order():
    t = filled(numbers(5))
    t.assign(t * 2)
    t.assign(t + 1)
    t.assign(t * t)
    np.testing.assert_array_equal(t.numpy(), (numbers(5) * 2 + 1) ** 2)


def test_what_was_read_before_sees_the_old_value():
    t, x = filled(numbers(4, 5)), numbers(4, 5)
    before, turned, total = t + 10, t.T.contiguous(), t.sum()
    t.assign(t * 2)
    Tensor.realize(t, before, turned, total)
    np.testing.assert_array_equal(before.numpy(), x + 10)
    np.testing.assert_array_equal(turned.numpy(), x.T)
    assert total.item() == x.sum()
    np.testing.assert_array_equal(t.numpy(), x * 2)


def test_what_is_read_after_sees_the_new_value():
    t, x = filled(numbers(4, 5)), numbers(4, 5)
    t.assign(t * 2)
    after, turned, total = t + 10, t.T.contiguous(), t.sum()
    Tensor.realize(total, turned, after)
    np.testing.assert_array_equal(after.numpy(), x * 2 + 10)
    np.testing.assert_array_equal(turned.numpy(), x.T * 2)
    assert total.item() == x.sum() * 2
    np.testing.assert_array_equal(t.numpy(), x * 2)


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


def test_old_and_new_in_one_result():
    t, x = filled(numbers(6)), numbers(6)
    old, old_sum = t + 0.5, t.sum()
    t.assign(t + 1)
    both = old + t + old_sum
    np.testing.assert_array_equal(both.numpy(), x + 0.5 + x + 1 + x.sum())
    np.testing.assert_array_equal(t.numpy(), x + 1)


def test_two_tensors_changed_by_each_other_in_turn():
    x, y = numbers(6), numbers(6, seed=1)
    t, u = filled(x), filled(y)
    t.assign(t + u)
    u.assign(u * t)
    t.assign(t - u)
    Tensor.realize(t, u)
    x = x + y
    y = y * x
    np.testing.assert_array_equal(t.numpy(), x - y)
    np.testing.assert_array_equal(u.numpy(), y)


def test_a_result_of_the_new_of_one_and_the_old_of_another():
    m, t = numbers(4, 5), numbers(4, 5, seed=1)
    tm, tt = filled(m), filled(t)
    tm.assign(tm + tt)
    total = tm.sum() + tt.sum()
    tt.assign(tt * tm)
    Tensor.realize(total, tm, tt)
    m = m + t
    assert total.item() == m.sum() + t.sum()
    np.testing.assert_array_equal(tm.numpy(), m)
    np.testing.assert_array_equal(tt.numpy(), t * m)


def test_many_steps_realized_at_once():
    w, x = numbers(6, 6), numbers(6, 6, seed=2)
    tw, tx, losses, expected = filled(w), filled(x), [], []
    for _ in range(3):
        y = tx @ tw
        losses.append(y.sum())
        tw.assign(tw + y.T)
        expected.append((x @ w).sum())
        w = w + (x @ w).T
    Tensor.realize(tw, *losses)
    np.testing.assert_array_equal(tw.numpy(), w)
    assert [loss.item() for loss in losses] == expected


def test_a_swap_by_way_of_the_old_values():
    a, b = filled(numbers(5)), filled(numbers(5, seed=1))
    old_a, old_b = Tensor(a.uop), Tensor(b.uop)
    a.assign(old_b)
    b.assign(old_a)
    Tensor.realize(a, b)
    np.testing.assert_array_equal(a.numpy(), numbers(5, seed=1))
    np.testing.assert_array_equal(b.numpy(), numbers(5))
    np.testing.assert_array_equal(old_a.numpy(), numbers(5))


def test_a_swap_by_way_of_copies():
    a, b = filled(numbers(5)), filled(numbers(5, seed=1))
    old_a, old_b = a.clone(), b.clone()
    a.assign(old_b)
    b.assign(old_a)
    Tensor.realize(a, b)
    np.testing.assert_array_equal(a.numpy(), numbers(5, seed=1))
    np.testing.assert_array_equal(b.numpy(), numbers(5))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.flip(0),
        lambda t: t.T,
        lambda t: t @ t,
        lambda t: t + t.T,
        lambda t: t.sum(axis=0).expand(7, 7),
        lambda t: t - t.max(axis=0, keepdim=True),
        lambda t: t - t.sum(axis=1, keepdim=True),
        lambda t: t.pad(((1, 0), (0, 0)))[:-1],
        lambda t: t + t.sum(),
    ],
)
def test_a_change_in_place_that_reads_other_elements(change):
    x = numbers(7, 7)
    t, copy = filled(x), filled(x)
    buffer = buffer_of(t.uop.base)
    t.assign(change(t))
    np.testing.assert_array_equal(t.numpy(), change(copy).numpy())
    assert buffer_of(t.uop.base) is buffer


@pytest.mark.parametrize("size", [1, 3, 15, 16, 17, 31, 33, 70])
def test_a_change_in_place_of_any_size_is_made_once_for_each_element(size):
    t = filled(numbers(size))
    t.assign(t * 2 + 1)
    np.testing.assert_array_equal(t.numpy(), numbers(size) * 2 + 1)


def test_assign_through_views():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    t = filled(x)
    turned, part = t.T, t[1:, ::2]
    turned.assign(turned * 2).realize()
    x *= 2
    np.testing.assert_array_equal(t.numpy(), x)
    part.assign(filled(np.float32([[1, 2], [3, 4]]))).realize()
    x[1:, ::2] = [[1, 2], [3, 4]]
    np.testing.assert_array_equal(t.numpy(), x)
    flat = t.reshape(12)
    flat.assign(flat.flip(0)).realize()
    np.testing.assert_array_equal(t.numpy(), x.reshape(-1)[::-1].reshape(3, 4))


def test_overlapping_views_of_one_memory():
    x = np.arange(6, dtype=np.float32)
    t = filled(x)
    later = t[1:]
    later.assign(t[:-1]).realize()
    np.testing.assert_array_equal(t.numpy(), [0, 0, 1, 2, 3, 4])


def test_separate_parts_of_one_memory():
    x = numbers(6)
    t = filled(x)
    first, last = t[:3], t[3:]
    first.assign(first + 100)
    last.assign(last + 200)
    Tensor.realize(first, last)
    np.testing.assert_array_equal(t.numpy(), x + np.float32([100] * 3 + [200] * 3))


def test_a_copy_has_memory_of_its_own():
    t = filled(numbers(5))
    copies = t.clone(), t.clone().clone(), (t + 0).contiguous().clone()
    Tensor.realize(*copies)
    for copy in copies:
        copy.assign(copy * 10).realize()
    np.testing.assert_array_equal(t.numpy(), numbers(5))
    assert t.contiguous().uop is t.uop


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
    assert (
        schedule_of((Tensor.full((3,), 2.0, device="CPU").to("PYTHON") + 1).contiguous())[0].ast.op
        is Ops.SINK
    )


def test_a_copy_is_made_once():
    t = filled(numbers(3)).to("PYTHON")
    items = schedule_of(t + 1, t * 2)
    assert [item.ast.op for item in items].count(Ops.COPY) == 1


# ---- memory -------------------------------------------------------------------------------------


def layers(x: Tensor, weights: list[Tensor]) -> Tensor:
    for w in weights:
        x = (x @ w).relu()
    return x


def test_intermediate_results_share_memory():
    x, weights = on_buffer(16, 16), [on_buffer(16, 16) for _ in range(8)]
    items = schedule_of(layers(x, weights))
    assert len(items) == 8
    new = {buffer for item in items for buffer in item.bufs} - {
        buffer_of(w.uop.base) for w in weights
    }
    # the input, the output, and two in turn
    assert len(new) == 4


def test_memory_that_is_shared_holds_what_is_needed():
    x, weights = numbers(16, 16), [np.sign(numbers(16, 16, seed=n)) for n in range(8)]
    tensors = [filled(w) for w in weights]
    result = layers(filled(x), tensors)
    for w in weights:
        x = np.maximum(x @ w, 0)
    np.testing.assert_array_equal(result.numpy(), x)


def test_results_do_not_share_memory():
    x, results, expected = filled(numbers(40)), [], []
    for n in range(6):
        x = (x + n).contiguous()
        results.append(x)
        expected.append(numbers(40) + sum(range(n + 1)))
    results[-1].realize()
    assert len({t.uop for t in results}) == 6
    for found, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), right)


def new_buffers(*sizes: int) -> list[UOp]:
    return [on_buffer(size).uop.base for size in sizes]


def test_planner_gives_memory_on_when_its_last_user_has_run():
    a, b, c, d = new_buffers(8, 8, 8, 8)
    uses = [[a], [b, a], [c, b], [d, c]]
    assert share_memory(uses, {a, b, c, d}) == {c: a, d: b}


def test_planner_takes_the_smallest_that_fits():
    large, small, a, b = new_buffers(100, 10, 8, 50)
    assert share_memory([[large, small], [a], [b]], {large, small, a, b}) == {a: small, b: large}
    assert share_memory([[a], [b]], {a, b}) == {}


def test_planner_leaves_what_lasts_and_other_dtypes_alone():
    from tinyframe import dtypes

    a, b = new_buffers(8, 8)
    (half,) = (on_buffer(8, dtype=dtypes.half).uop.base,)
    assert share_memory([[a], [b]], {b}) == {}
    assert share_memory([[half], [b]], {half, b}) == {}


@pytest.mark.parametrize("seed", range(20))
def test_planner_never_lets_two_live_buffers_share(seed):
    rng = np.random.default_rng(seed)
    buffers = new_buffers(*rng.integers(1, 20, 30).tolist())
    uses = [[buffers[n] for n in rng.choice(30, 3)] for _ in range(25)]
    place = share_memory(uses, set(buffers))
    life = {
        b: (min(ns), max(ns))
        for b in buffers
        if (ns := [n for n, used in enumerate(uses) if b in used])
    }
    for a, b in itertools.combinations(life, 2):
        if place.get(a, a) is place.get(b, b):
            assert life[a][1] < life[b][0] or life[b][1] < life[a][0]
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
