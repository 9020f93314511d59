"""Realizing changes when a value is computed, never what is differentiated."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest

from tinyframe import GlobalCounters, Tensor
from tinyframe.device import buffer_of
from tinyframe.errors import AssignError, GradientError
from tinyframe.tensor.history import LONGEST_UNASKED, origin_of


def test_a_name_that_is_used_again_after_realizing():
    w = Tensor([1.0, 2.0], requires_grad=True)
    h = w * 3
    h.realize()
    h = h * 5
    h.realize()
    h.sum().backward()
    assert w.grad.tolist() == [15, 15]


@pytest.mark.parametrize("look", [Tensor.realize, Tensor.numpy, lambda t: None])
def test_a_gradient_that_was_read_is_differentiated_again(look):
    x = Tensor([1.0, 2.0])
    (first,) = (x**3).sum().gradient(x)
    look(first)
    (second,) = first.sum().gradient(x)
    look(second)
    (third,) = second.sum().gradient(x)
    assert (first.tolist(), second.tolist(), third.tolist()) == ([3, 12], [6, 12], [6, 6])


@pytest.mark.parametrize("realize", [True, False])
def test_gradients_flow_through_changes_in_place(realize):
    def done(t):
        return t.realize() if realize else t

    w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = done(w * 3)
    done(h.assign(h * h))  # the old values have to be computed again
    done(h.assign(h * 2))
    (h * Tensor([1.0, 10.0, 100.0])).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [36, 720, 10800])
    # a part of memory that is written to, and the rest
    w.grad = None
    z = done((w * 2).contiguous())
    z[:2] = done(w[1:] ** 2)
    done(z)
    (z * Tensor([1.0, 10.0, 100.0])).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [0, 4, 60 + 200])


@pytest.mark.parametrize("count", [100, 129, 300])
@pytest.mark.parametrize("realize", [True, False])
def test_gradients_flow_through_long_scans(count, realize):
    w = Tensor.ones(count).contiguous().realize()
    w.requires_grad = True
    total = w.cumsum(0)
    if realize:
        total.realize()
    total.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), np.arange(count, 0, -1))


def test_a_gradient_that_needs_overwritten_values_of_a_parameter_is_refused():
    w = Tensor([1.0, 2.0], requires_grad=True)
    loss = (w * w).sum().realize()
    easy = (w * 3).sum().realize()
    with Tensor.no_grad():
        w.assign(w * 10).realize()
    easy.backward()  # needs no values of w, and w is still w
    assert w.grad.tolist() == [3, 3]
    with pytest.raises(GradientError, match="changed in place"):
        loss.backward()
    assert w.grad.tolist() == [3, 3]


def test_a_lazy_loss_has_the_gradient_of_when_it_was_written_down():
    w = Tensor([1.0, 2.0], requires_grad=True)
    loss = (w * w).sum()
    with Tensor.no_grad():
        w.assign(w * 10)
    loss.backward()
    assert w.grad.tolist() == [2, 4]
    assert (loss.item(), w.tolist()) == (5, [10, 20])


def test_two_parameters_that_begin_alike_are_two():
    source = Tensor([1.0, 2.0]).realize()
    a, b = source.clone().requires_grad_(), source.clone().requires_grad_()
    (a * 2 + b * 3).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([2, 2], [3, 3])
    Tensor.realize(a, b)
    c = (a.detach() * 1).requires_grad_()
    (a * 5 + c * 7).sum().backward()
    assert (a.grad.tolist(), c.grad.tolist()) == ([7, 7], [7, 7])


def test_a_gradient_that_was_cut_off_on_purpose_says_so():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    with pytest.raises(GradientError, match="detach"):
        (x.detach() * 2).sum().gradient(x)
    with Tensor.no_grad():
        z = x * 3
    with pytest.raises(GradientError, match="no_grad"):
        (z * z).sum().gradient(x)
    for lazy in (x.detach() * 2, z):  # looking at it makes no difference
        looked_at = lazy.realize() + 1
        with pytest.raises(GradientError, match="detach"):
            looked_at.realize().sum().gradient(x)
    by_x, by_y = (x.detach() * y).sum().gradient(x, y)  # what flows to one is 0 for the other
    assert (by_x.tolist(), by_y.tolist()) == ([0, 0], [1, 2])
    assert y.sum().gradient(x)[0].tolist() == [0, 0]  # it has nothing to do with x


# ---- how long it is kept -------------------------------------------------------------------------


def test_a_loop_that_nobody_can_differentiate_keeps_nothing():
    x = Tensor([1.0] * 1000).realize()
    used = []
    for _ in range(10):
        x = (x * 1.5).realize()
        gc.collect()
        used.append(GlobalCounters.mem_used)
    assert used[-1] == used[2]


def test_the_input_of_what_is_kept_goes_with_its_last_user():
    data = Tensor(np.ones(1000, np.float32)).realize()
    scaled = (data / 255).realize()
    memory = weakref.ref(buffer_of(data.uop.base))
    del data
    (Tensor([1.0]) + 1).realize()  # whatever is realized next tidies up
    gc.collect()
    assert memory() is None
    np.testing.assert_allclose(scaled.numpy(), np.full(1000, 1 / 255), rtol=1e-6)


def test_a_long_history_that_nobody_asked_for_is_let_go_and_says_so():
    start = Tensor([1.0])
    asked = Tensor([1.0], requires_grad=True)
    x, y = start, asked
    for _ in range(LONGEST_UNASKED + 50):
        x, y = (x + 1).realize(), (y + 1).realize()
    with pytest.raises(GradientError, match="requires_grad=True"):
        x.sum().gradient(start)
    other = Tensor([2.0])
    assert (x * other).sum().gradient(other)[0].tolist() == [LONGEST_UNASKED + 51]
    assert y.sum().gradient(asked)[0].tolist() == [1]


def test_values_that_are_gone_with_their_history_are_missed():
    x, weight = Tensor([1.0]), Tensor([2.0], requires_grad=True)
    for _ in range(LONGEST_UNASKED + 50):
        x = (x + 1).realize()
    product = (x * weight).sum().realize()
    x.assign(0).realize()
    with pytest.raises(GradientError, match="gone"):
        product.backward()  # it needs x as it was, and nothing says how that was computed
    assert product.item() == 2 * (LONGEST_UNASKED + 51)


def test_a_history_ends_with_its_value():
    w = Tensor([1.0], requires_grad=True)
    loss = (w * 3).exp().realize()
    origin = weakref.ref(origin_of(loss.uop))
    assert origin() is not None
    del loss
    gc.collect()
    assert origin() is None


def test_a_parameter_that_is_updated_begins_anew_each_time():
    w = Tensor([3.0], requires_grad=True)
    for _ in range(5):
        w.grad = None
        (w * w).sum().backward()
        w.assign(w - 0.25 * w.grad).realize()
        assert all(origin_of(u) is None for u in w.uop.toposort())
    np.testing.assert_allclose(w.numpy(), [3 * 0.5**5])


# ---- values that a leaf had before ---------------------------------------------------------------

CHANGES = {
    "assign": lambda w: w.assign(w * 2),
    "set all": lambda w: w.__setitem__(slice(None), Tensor([5.0, 6.0])),
    "set one": lambda w: w.__setitem__(0, 1.0),
    "replace": lambda w: w.replace(Tensor([5.0, 6.0])),
    "set detached": lambda w: w.detach().__setitem__(0, 1.0),
    "twice": lambda w: w.assign(w * 2).realize().assign(w * 2),
}


@pytest.mark.parametrize("realized", ["before", "after", "never"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_gradient_flows_to_a_leaf_through_each_value_that_it_had(change, realized):
    w = Tensor([1.0, 2.0], requires_grad=True)
    before = w * 3
    if realized == "before":
        before.realize()
    with Tensor.no_grad():
        change(w)
    if realized == "after":
        w.realize()
    before.sum().backward()
    assert w.grad.tolist() == [3, 3]
    w.grad = None
    (before + w).sum().backward()
    assert w.grad.tolist() == [4, 4]
    assert (before + w).sum().gradient(w)[0].tolist() == [4, 4]


def test_a_view_of_a_leaf_has_the_gradient_of_its_part_of_each_value():
    w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    tail = w[1:]
    before = tail * Tensor([10.0, 100.0])
    with Tensor.no_grad():
        w.assign(w * 2).realize()
    assert (before + tail * 2).sum().gradient(tail)[0].tolist() == [12, 102]


def test_what_is_no_leaf_has_the_gradient_of_its_last_value():
    w = Tensor([1.0, 2.0], requires_grad=True)
    h = w * 3
    before = h * 5
    h.assign(h * h)
    assert (before + h).sum().gradient(h)[0].tolist() == [1, 1]
    (before + h).sum().backward()
    assert w.grad.tolist() == [15 + 18, 15 + 36]


def test_rows_written_to_a_buffer_keep_the_gradient_of_the_others():
    v = Tensor(np.arange(1, 9, dtype=np.float32).reshape(4, 2), requires_grad=True)
    buffer = Tensor.zeros(4, 2).contiguous().realize()
    buffer.assign(v * 2)
    buffer[0] = 1.5
    buffer[1] = 1.5
    ((buffer**2).sum() + v.sum()).backward()
    assert v.grad.reshape(-1).tolist() == [1, 1, 1, 1, 41, 49, 57, 65]
    v.grad = None
    (buffer**2).sum().backward()
    assert v.grad.reshape(-1).tolist() == [0, 0, 0, 0, 40, 48, 56, 64]


def test_a_value_with_a_gradient_is_not_written_to_a_detached_tensor():
    w = Tensor([1.0, 2.0], requires_grad=True)
    detached = Tensor([0.0, 0.0]).realize().detach()
    with pytest.raises(AssignError, match="detach"):
        detached[0] = w[0] * 3
    with pytest.raises(AssignError, match="detach"):
        detached.assign(w * 3)
    detached[0] = (w[0] * 3).detach()
    with Tensor.no_grad():
        detached[1] = w[1] * 3
    (detached.sum() + w.sum()).backward()
    assert (w.grad.tolist(), detached.tolist()) == ([1, 1], [3, 6])


def test_a_deep_copy_of_what_is_no_leaf_is_refused():
    w = Tensor([1.0, 2.0], requires_grad=True)
    buffer = Tensor.zeros(2).contiguous().realize()
    buffer.assign(w * 2)
    for computed_from_it in (w * 3, w[1:], (w * 3).realize(), buffer):
        with pytest.raises(GradientError, match="detach"):
            copy.deepcopy(computed_from_it)
        copy.deepcopy(computed_from_it.detach())
    (w * 3).sum().backward()
    other = copy.deepcopy(w)
    assert (other.tolist(), other.requires_grad, other.grad.tolist()) == ([1, 2], True, [3, 3])


def test_what_a_parameter_is_assigned_is_cut_off_realized_or_not():
    for realize in (True, False):
        w, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
        w.assign(v * 2)
        w[0] = v[0] * 5
        if realize:
            w.realize()
        (w * 7 + v).sum().backward()
        assert (w.grad.tolist(), v.grad.tolist()) == ([7, 7], [1, 1])


def test_a_value_written_to_a_parameter_is_not_the_detached_value_that_is_equal_to_it():
    w = Tensor([2.25], requires_grad=True)
    y = w.detach() * 3
    with Tensor.no_grad():
        w[...] = w
    (w - y).mean().backward()
    assert w.grad.tolist() == [1.0]  # PyTorch: y is a constant


def test_what_is_written_without_gradients_is_not_another_value():
    """Neither a second history of the value's memory, nor a second target: PyTorch's answers."""
    w, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    y, z = w * 2, v * 3
    before = y * 5
    with Tensor.no_grad():
        y.assign(z)
    lazily = Tensor([1.0]).expand(2) * 1.5
    lazily.detach().assign(z.detach())
    Tensor.realize(y, z, lazily)
    (z * 7).sum().backward()
    assert (v.grad.tolist(), w.grad) == ([21, 21], None)
    assert (before + y).sum().gradient(y)[0].tolist() == [6, 6]
    v.detach()[...] = w.detach()
    Tensor.realize(v, w)
    assert [g.tolist() for g in v.sum().gradient(v, w)] == [[1, 1], [0, 0]]


def test_a_loop_that_writes_without_gradients_keeps_one_history():
    w = Tensor([1.0] * 1000, requires_grad=True)
    y = (w * 2).realize()
    used = []
    for step in range(6):
        with Tensor.no_grad():
            y += Tensor(np.full(1000, step, np.float32)).realize()
        y.realize()
        gc.collect()
        used.append(GlobalCounters.mem_used)
    assert used[-1] == used[1]
    y.sum().backward()
    assert w.grad.tolist() == [2] * 1000


@pytest.mark.parametrize("shape", [(2,), (1, 2), (2, 1)])
def test_values_that_were_overwritten_are_computed_again_in_any_shape(shape):
    x = Tensor(np.array([1.0, 2.0], np.float32).reshape(shape)).realize()
    y = (x * 2).realize()
    squares = y.square().realize()
    y.assign(y + 1).realize()
    assert squares.sum().gradient(x)[0].flatten().tolist() == [8, 16]
    with Tensor.no_grad():
        y.assign(y + 1).realize()
    fourth = y.square().realize()
    y.assign(y + 1).realize()
    with pytest.raises(GradientError, match="gone"):  # of what was written there, nothing is kept
        fourth.sum().gradient(x)
