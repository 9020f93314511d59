"""Memory changes in program order, a view is a view, and two Tensors are two Tensors.

That any program of views, copies and changes gives what NumPy gives is in tests/fuzz/memory.py.
Here is what such a program does not see: what it costs, what fails half way, what is refused.
"""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import weakref

import numpy as np
import pytest

from tinyframe import GlobalCounters, Tensor, nn
from tinyframe.device import Allocator, OverwrittenError, buffer_of
from tinyframe.errors import AssignError

# ---- two Tensors are two Tensors -----------------------------------------------------------------

TWINS = {
    "zeros": lambda: (Tensor.zeros(4).contiguous(), Tensor.zeros(4).contiguous()),
    "clones": lambda: (lambda w: (w.clone(), w.clone()))(Tensor([1.0, 2.0, 3.0, 4.0]).realize()),
    "alike": lambda: (lambda x: (x * 2, x * 2))(Tensor([1.0, 2.0, 3.0, 4.0]).realize()),
    "constants": lambda: (Tensor.ones(4), Tensor.ones(4)),
}


@pytest.mark.parametrize("realized", [True, False])
@pytest.mark.parametrize("make", TWINS.values(), ids=TWINS)
def test_what_is_computed_alike_changes_apart(make, realized):
    a, b = make()
    if realized:
        Tensor.realize(a, b)
        assert a.uop is b.uop  # equal graphs are one node, and one BUFFER
    expected = b.numpy()
    a[0:2] = 99
    b[3] = -1
    np.testing.assert_array_equal(a.numpy(), [99, 99, *expected[2:]])
    np.testing.assert_array_equal(b.numpy(), [*expected[:3], -1])
    a.assign(a * 2).realize()
    np.testing.assert_array_equal(b.numpy(), [*expected[:3], -1])


# beside those in tests/fuzz/memory.py
SAME_VALUES = {
    "flip of one": lambda t: t.reshape(1, 4).flip(0).reshape(4),
    "sum over one": lambda t: t.reshape(4, 1).sum(1),
    "max over one": lambda t: t.reshape(4, 1).max(1),
    "mean over one": lambda t: t.reshape(1, 4).mean(0),
    "plus": lambda t: +t,
    "roll": lambda t: t.roll(4, 0),
    "repeat_interleave": lambda t: t.repeat_interleave(1),
    "cat": lambda t: Tensor.cat(t),
    "stack": lambda t: Tensor.stack(t).reshape(4),
    "pad": lambda t: t.pad(((0, 0),)),
    "dropout": lambda t: t.dropout(0.5),
    "clip": lambda t: t.clip(-100, 100),
    "where": lambda t: Tensor.ones(4).bool().where(t, 0),
    "replace": lambda t: Tensor.empty(4).replace(t),
}


@pytest.mark.parametrize("realized", [True, False])
@pytest.mark.parametrize("same", SAME_VALUES.values(), ids=SAME_VALUES)
def test_what_is_computed_is_a_new_value_even_where_nothing_changes(same, realized):
    t = Tensor([0.5, 1.0, 1.5, 2.0]) * 2
    t = t.realize() if realized else t
    other = same(t)
    t[1] = 50
    other[2] = 60
    assert other.tolist() == [1, 2, 60, 4]
    assert t.tolist() == [1, 50, 3, 4]


# ---- what was written down before a change -------------------------------------------------------


def test_a_reader_that_is_larger_than_the_memory_keeps_the_old_values():
    a = Tensor([1.0, 2.0]).realize()
    wide = a.reshape(2, 1).expand(2, 1000) * 2
    GlobalCounters.reset()
    a.assign(a + 1).realize()
    assert GlobalCounters.kernel_count == 1  # `wide` is not computed for that
    assert a.tolist() == [2, 3]
    np.testing.assert_array_equal(wide.numpy(), np.float32([[2] * 1000, [4] * 1000]))


def test_a_list_of_lazy_losses_keeps_one_number_for_each_step():
    w = Tensor([1.0, 2.0, 3.0, 4.0] * 64).realize()
    losses, used = [], []
    for _ in range(6):
        losses.append((w * w).sum())
        w.assign(w * 0.5).realize()
        gc.collect()
        used.append(GlobalCounters.mem_used)
    assert used[-1] - used[1] < 6 * 64
    start = float((np.float32([1, 2, 3, 4] * 64) ** 2).sum())
    assert [loss.item() for loss in losses] == [start * 0.25**n for n in range(6)]


def test_in_place_where_nobody_needs_the_old_value():
    x = Tensor([1.0, 2.0]).realize()
    memory = buffer_of(x.uop.base)
    old = x.uop.base
    for _ in range(3):
        GlobalCounters.reset()
        x.assign(x + 1).realize()
        assert GlobalCounters.kernel_count == 1
        assert buffer_of(x.uop.base) is memory
    twin = x * 1
    x.assign(x + 1).realize()
    assert buffer_of(x.uop.base) is not buffer_of(twin.realize().uop.base)
    assert (x.tolist(), twin.tolist()) == ([5, 6], [4, 5])
    with pytest.raises(OverwrittenError, match="gone"):
        Tensor(old).numpy()


# ---- a view is a view ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda t: t.expand(3, 4), lambda t: t.unfold(0, 2, 1), lambda t: t.window(0, 3, 1),
])  # fmt: skip
def test_what_shows_an_element_twice_cannot_be_written_to(make):
    t = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    view = make(t)
    with pytest.raises(AssignError, match="more than once"):
        view.assign(view * 2)
    t[0] = 7  # but it shows what changes
    assert 7 in view.numpy()


# ---- copies --------------------------------------------------------------------------------------


def test_a_shallow_copy_is_the_same_memory():
    t = Tensor([1.0, 2.0]).realize()
    same = copy.copy(t)
    t[0] = 5
    assert same.tolist() == [5, 2]


def test_tensors_that_share_memory_share_it_in_a_copy():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    pair = {"whole": t, "row": t[1], "turned": t.T, "alone": Tensor([7])}
    for copied in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        copied["row"][0] = 30
        assert copied["whole"].tolist() == [[1, 2], [30, 4]]
        assert copied["turned"].tolist() == [[1, 30], [2, 4]]
        assert copied["alone"].tolist() == [7]
    assert t.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("dtype", ["float32", "half", "bfloat16", "int64", "bool", "uint8"])
def test_pickle_holds_the_values(dtype):
    for t in (Tensor([0, 1, 2, 3]).cast(dtype), Tensor.full((2, 2), 1, dtype=dtype)):
        again = pickle.loads(pickle.dumps(t))
        assert (again.dtype, again.shape, again.tolist()) == (t.dtype, t.shape, t.tolist())


# ---- what it costs -------------------------------------------------------------------------------


def test_an_optimizer_step_costs_what_it_did():
    Tensor.manual_seed(0)
    w = Tensor.uniform(8, 8, requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=0.1, momentum=0.9)
    x = Tensor.uniform(4, 8).realize()
    counts, memories = [], []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (x @ w).square().mean()
        loss.backward()
        GlobalCounters.reset()
        optimizer.step()
        counts.append(GlobalCounters.kernel_count)
        memories.append(buffer_of(w.uop.base))
    assert counts[1:] == [counts[1]] * 3 and counts[1] <= 4
    assert all(memory is memories[0] for memory in memories)


def test_old_memory_goes_when_nobody_needs_it():
    a = Tensor([1.0, 2.0]).realize()
    twin = a * 1
    memory = weakref.ref(buffer_of(a.uop.base))
    twin.assign(twin + 1).realize()  # that of `a` stays with `a`
    assert buffer_of(a.uop.base) is memory()
    a.assign(Tensor([5.0, 6.0])).realize()
    del a, twin
    gc.collect()
    assert memory() is None


def test_changes_that_are_stopped_half_way_are_made_once_each(monkeypatch):
    from tinyframe.run import realize

    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0]).realize()
    x.assign(x + 1)
    y.assign(y * x.sum())
    run, count = realize._run_kernel, []

    def fails_at_the_second(*args):
        count.append(args)
        if len(count) == 2:
            raise KeyboardInterrupt
        return run(*args)

    with monkeypatch.context() as patch:
        patch.setattr(realize, "_run_kernel", fails_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            Tensor.realize(x, y)
    assert (x.tolist(), y.tolist()) == ([2, 3], [15])


@pytest.mark.parametrize(("where", "error"), [
    ("compile_all", MemoryError), ("_run_kernel", KeyboardInterrupt),
])  # fmt: skip
def test_what_never_began_can_be_done_later(monkeypatch, where, error):
    from tinyframe.run import realize

    x = Tensor([1.0, 2.0]).realize()
    x.assign(x + 1)
    lazy = Tensor([5.0]) * 2

    def fails(*args):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(realize, where, fails)
        with pytest.raises(error):
            Tensor.realize(lazy, x)
    assert (x.tolist(), lazy.tolist()) == ([2, 3], [10])


@pytest.mark.parametrize(
    "turn", [lambda t: t.flip(0), lambda t: t.flip(1).T, lambda t: t.T.flip(1)]
)
@pytest.mark.parametrize("part", [0, slice(None, None, 2), (slice(None), 1)])
@pytest.mark.parametrize("first", ["part", "whole", "source"])
def test_a_part_of_what_lies_in_memory_in_another_order_is_assigned(turn, part, first):
    data = np.arange(9, dtype=np.float32).reshape(3, 3)
    source = Tensor(data).realize()
    whole = turn(source).realize()  # the same memory, seen in another order
    view = whole[part]
    view.assign(view * 10)
    expected = {"source": data, "whole": np.array(turn(Tensor(data)).numpy())}
    expected["whole"][part] *= 10
    expected["part"] = expected["whole"][part]
    tensors = {"source": source, "whole": whole, "part": view}
    for name in [first, *tensors]:
        np.testing.assert_array_equal(tensors[name].numpy(), expected[name], err_msg=name)


def test_an_old_value_that_is_read_through_a_change_of_other_memory_stays():
    x = Tensor.empty(3).assign(Tensor([-3.0, 7.0, 8.0]))
    y = (x > x).where(x, x * 1)
    x[0] = -2.0
    x.assign(y)
    twice = Tensor.cat(x, x)  # of what x is now: y as it was
    x.assign(-3.0)
    y.assign(y + x)  # in the memory of y, which x was copied from
    assert y.tolist() == [-6.0, 4.0, 5.0]
    assert x.tolist() == [-3.0] * 3
    assert twice.tolist() == [-3.0, 7.0, 8.0] * 2


@pytest.mark.parametrize("missing", range(2))
def test_changes_that_memory_is_missing_for_are_made_once_each(monkeypatch, missing):
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 1.0, 1.0]).realize()
    x.assign(x + 1)
    y.assign(y * x.sum().contiguous())
    z, alloc, count = (y + x[0]).contiguous(), Allocator.alloc, itertools.count()

    def fails_once(*args):
        if next(count) == missing:
            raise MemoryError("none left")
        return alloc(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Allocator, "alloc", fails_once)
        with pytest.raises(MemoryError):
            Tensor.realize(x, y, z)
    assert (x.tolist(), y.tolist(), z.tolist()) == ([2, 3], [15, 5, 5], [17, 7, 7])


def test_a_scalar_that_a_view_of_it_writes_to_stays_one():
    x = Tensor(1.0).contiguous().realize()
    x.reshape(1)[::2].assign(Tensor([5.0]))
    assert (x.shape, (x + 1).shape, x.item(), x.numpy().shape) == ((), (), 5.0, ())
