"""Nothing is computed until it is asked for, nothing twice; in-place changes do what they say."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from tinyframe import GlobalCounters, Tensor, Variable, dtypes
from tinyframe.device import OverwrittenError, buffer_of
from tinyframe.run import realize
from tinyframe.run.realize import run_schedule
from tinyframe.uop.node import Ops


def kernels(run) -> int:
    """How many kernels `run` takes."""
    before = GlobalCounters.kernel_count
    run()
    return GlobalCounters.kernel_count - before


def test_nothing_runs_until_it_is_asked_for():
    assert kernels(lambda: (Tensor([1.0, 2.0]) + 1).relu().sum()) == 0


def test_realized_results_are_shared_by_all_who_hold_the_graph():
    x = Tensor([1.0, 2.0]).realize()
    a, b = x + 1, x + 1
    c = a * 2
    assert a.uop is b.uop
    a.realize()
    assert a.uop is b.uop
    assert a.uop.base.op is Ops.BUFFER
    assert kernels(b.realize) == 0
    assert kernels(c.realize) == 1
    assert a.uop in c.uop.toposort() or c.uop.base.op is Ops.BUFFER
    assert c.tolist() == [4.0, 6.0]


def test_a_value_is_computed_once_however_often_it_is_read():
    x = Tensor([3.0, 1.0, 2.0]) * 2
    assert kernels(x.numpy) == 1
    assert kernels(x.tolist) == kernels(x.numpy) == 0
    moved = (Tensor([[1.0, 2.0], [3.0, 4.0]]) * 2).T
    twin = moved + 1
    assert kernels(moved.numpy) == 1
    assert kernels(moved.numpy) == 0
    assert twin.tolist() == [[3.0, 7.0], [5.0, 9.0]]


def test_constants_and_views_need_no_kernel():
    assert kernels(Tensor.ones(3, 3).realize) == 0
    x = Tensor([1.0, 2.0, 3.0]).realize()
    assert kernels(x[1:].reshape(2, 1).expand(2, 5).realize) == 0
    assert kernels(x.reshape(3, 1).numpy) == 0


def test_schedule_gives_items_and_points_the_tensor_at_its_buffer():
    x = (Tensor([1.0, 2.0]).realize() + 1).exp()
    items = x.schedule()
    assert [item.ast.op for item in items] == [Ops.SINK]
    assert x.uop.base.op is Ops.BUFFER
    assert items[-1].bufs[0] is buffer_of(x.uop.base)
    run_schedule(items)
    np.testing.assert_allclose(x.numpy(), np.exp([2.0, 3.0]), rtol=1e-6)
    assert x.schedule() == []


def test_tensors_and_their_memory_go_when_nobody_holds_them():
    x = Tensor([1.0, 2.0]) + 1
    x.realize()
    ref, memory = weakref.ref(x), weakref.ref(buffer_of(x.uop.base))
    del x
    gc.collect()
    assert ref() is None
    assert memory() is None


def test_a_tensor_is_a_key_by_itself():
    a, b = Tensor([1.0]), Tensor([1.0])
    assert len({a, b, a}) == 2
    assert {a: 1}[a] == 1


# ---- assign ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value, words", [
    (Tensor([1, 2]), "dtype"),
    (Tensor([1.0, 2.0, 3.0]), "broadcast|shape"),
    (Tensor([[1.0, 2.0]]), "shape"),
    (Tensor([1.0, 2.0], device="PYTHON"), "device"),
])  # fmt: skip
def test_assign_refuses_what_does_not_fit(value, words):
    x = Tensor([1.0, 2.0]).realize()
    with pytest.raises(RuntimeError, match=words):
        x.assign(value)
    assert x.tolist() == [1.0, 2.0]


# ---- places and switches -------------------------------------------------------------------------


def test_a_tensor_moves_between_devices():
    x = Tensor([1.0, 2.0], device="PYTHON")
    assert x.device == "PYTHON"
    y = x.to("CPU")
    assert (y.device, y.tolist()) == ("CPU", [1.0, 2.0])
    assert y.to("cpu:0") is y
    z = Tensor([3.0])
    z.to_("python")
    assert (z.device, (z + 1).tolist()) == ("PYTHON", [4.0])
    with pytest.raises(ValueError, match="TPU"):
        x.to("TPU")


def test_replace_takes_the_same_shape():
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0])
    assert x.replace(y) is x
    assert x.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match=r"\(2,\)"):
        x.replace(Tensor([1.0]))


@pytest.mark.parametrize("to", [None, "CPU", "PYTHON"])
def test_a_clone_on_any_device_is_no_view(to):
    x = Tensor([1.0, 2.0], device="CPU").realize()
    copy = x.clone(device=to)
    assert copy.device == (to or "CPU")
    x.assign(Tensor([5.0, 6.0], device="CPU")).realize()
    assert copy.tolist() == [1, 2]
    copy[0] = 7
    assert copy.tolist() == [7, 2] and x.tolist() == [5, 6]


# ---- schedule(), and nobody has run it yet -------------------------------------------------------


def scheduled(size=6):
    """Two Tensors of the same graph, of which one is scheduled; its items; what both are."""
    values = np.arange(size, dtype=np.float32)
    a, b = Tensor(values).realize(), Tensor(values * 3).realize()
    x, y = a + b, a + b
    return x, y, x.schedule(), values * 4


def test_schedule_alone_runs_nothing_and_neither_does_looking():
    before = GlobalCounters.kernel_count
    x, _, items, _ = scheduled()
    assert len(items) == 1 and repr(x)
    assert GlobalCounters.kernel_count == before
    assert "not allocated" in repr(items[0].bufs[0])


@pytest.mark.parametrize("who", ["itself", "its equal", "what is made of it", "a slice"])
def test_a_schedule_that_nobody_has_run_is_run_when_a_value_is_needed(who):
    x, y, items, expected = scheduled()
    read, value = {
        "itself": (x, expected),
        "its equal": (y, expected),
        "what is made of it": ((y * 2).sum(), expected.sum() * 2),
        "a slice": (x[2:4], expected[2:4]),
    }[who]
    np.testing.assert_array_equal(read.numpy(), value)
    assert [item.has_run for item in items] == [True]
    GlobalCounters.reset()
    np.testing.assert_array_equal(x.numpy(), expected)
    assert GlobalCounters.kernel_count == 0


def test_items_that_were_run_by_hand_are_not_run_again():
    counter = Tensor(np.zeros(3, np.float32)).realize()
    items = counter.assign(counter + 1).schedule()
    run_schedule(items)
    assert counter.tolist() == [1, 1, 1]


def test_only_the_items_that_are_left_are_run():
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)).realize()
    total = (x * 2).contiguous().sum(axis=1)
    items = total.schedule()
    run_schedule(items[:1])
    GlobalCounters.reset()
    np.testing.assert_array_equal(total.numpy(), (x.numpy() * 2).sum(axis=1))
    assert GlobalCounters.kernel_count == len(items) - 1


def test_a_change_in_place_that_was_scheduled_is_seen_by_whoever_reads():
    counter = Tensor(np.zeros(3, np.float32)).realize()
    counter.assign(counter + 1).schedule()
    twice = counter * 2
    assert twice.tolist() == [2, 2, 2]
    assert counter.tolist() == [1, 1, 1]
    counter.assign(counter + 1).schedule()
    counter.assign(counter * 10).schedule()
    assert counter.tolist() == [20, 20, 20]


def test_a_bound_variable_keeps_its_value_until_the_schedule_is_run():
    n = Variable("n", 1, 10).bind(4)
    x = Tensor(np.arange(10, dtype=np.float32)).realize()[:n]
    total = (x * 3).sum()
    total.schedule()
    assert total.item() == 18


def test_half_a_change_in_place_is_never_taken_for_a_whole_one(monkeypatch):
    counter = Tensor(np.zeros(3, np.float32)).realize()
    counter.assign(counter + 1).schedule()
    with monkeypatch.context() as broken:
        broken.setattr(realize, "_run_kernel", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            counter.tolist()
    assert counter.tolist() == [1, 1, 1]
    counter.assign(counter + 1).schedule()
    with monkeypatch.context() as broken:  # a Runner that cannot tell
        broken.setattr(realize.CompiledKernel, "notes_itself", False)
        broken.setattr(realize, "_run_kernel", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            counter.tolist()
    with pytest.raises(OverwrittenError, match="gone"):
        counter.tolist()


def test_empty_memory_is_not_awaited():
    assert Tensor.empty(3, 4).realize().numpy().shape == (3, 4)
    (Tensor.empty(3) + 1).schedule()
    assert Tensor.empty(3).numpy().shape == (3,)


# ---- devices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mix", [
    lambda x, y: x + y,
    lambda x, y: x @ y.reshape(3, 1),
    lambda x, y: Tensor.cat(x, y),
    lambda x, y: Tensor.stack(x, y),
    lambda x, y: (x > 0).where(y, 0),
    lambda x, y: x[y.cast(dtypes.int)],
    lambda x, y: x.assign(y),
    lambda x, y: x.gather(0, y.cast(dtypes.int)),
    lambda x, y: x.__setitem__(slice(0, 3), y),
], ids=["add", "matmul", "cat", "stack", "where", "index", "assign", "gather", "set"])  # fmt: skip
def test_two_devices_in_one_expression_are_an_error_that_names_both(mix):
    values = [0.0, 1.0, 2.0]
    x, y = Tensor(values, device="CPU").realize(), Tensor(values, device="PYTHON").realize()
    with pytest.raises(ValueError, match="CPU.*PYTHON|PYTHON.*CPU"):
        mix(x, y)
    assert (x + y.to("CPU") + 1).tolist() == [1.0, 3.0, 5.0]
    assert x.tolist() == y.tolist() == values


# ---- what is stored on the way -------------------------------------------------------------------


def test_a_value_that_had_to_be_stored_stays_in_the_memory_of_the_tensor_that_is_it():
    weight = Tensor.rand(784, 32).realize()
    x = Tensor.rand(64, 784)
    (x @ weight).sum().realize()
    assert x.uop.base.op is Ops.BUFFER
    values = x.numpy()
    work = []
    for factor in (Tensor.rand(64, 784), x):
        before = GlobalCounters.global_ops
        (factor @ weight).sum().realize()
        work.append(GlobalCounters.global_ops - before)
    assert work[0] - work[1] > 5 * 64 * 784  # the random numbers are not computed again
    np.testing.assert_array_equal(x.numpy(), values)


def test_a_value_that_no_tensor_is_takes_no_memory_afterwards():
    weight = Tensor.rand(784, 32).realize()
    used = []
    for _ in range(3):
        total = (Tensor.rand(64, 784) @ weight).sum().realize()
        gc.collect()
        used.append(GlobalCounters.mem_used)
        assert total.item() > 0
    assert used[2] == used[1]


@pytest.mark.parametrize("held", range(4))
def test_what_is_kept_shares_its_memory_with_no_later_step(held):
    rng = np.random.default_rng(0)
    matrices = [rng.standard_normal((48, 48), np.float32) for _ in range(6)]
    given = [Tensor(m).realize() for m in matrices]
    values, expected = [given[0]], [matrices[0]]
    for t, m in zip(given[1:], matrices[1:], strict=True):
        values.append(values[-1] @ t)
        expected.append(expected[-1] @ m)
    kept = {0: values[held + 1], 1: values[held + 1].T[1:]}
    end = (values[-1] + 1).relu()
    del values
    end.realize()
    gc.collect()
    assert kernels(lambda: (kept[0] + 0).realize()) == 1  # nothing is computed again
    np.testing.assert_allclose(kept[0].numpy(), expected[held + 1], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(kept[1].numpy(), expected[held + 1].T[1:], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(end.numpy(), np.maximum(expected[-1] + 1, 0), rtol=1e-3, atol=1e-2)
