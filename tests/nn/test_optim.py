"""Optimizers: what they take, what they leave alone, what can be read after a step.

That their steps are right is compared with PyTorch in tests/torch.
"""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

from tinyframe import GlobalCounters, Tensor, dtypes, nn
from tinyframe.nn import lr, optim


@pytest.mark.parametrize("classic", [False, True])  # alike while the rate stays
def test_sgd_by_hand(classic):
    w = Tensor([1.0, 2.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5, classic=classic)
    for expected in ([0.8, 1.6], [0.54, 1.08]):  # steps of 0.1 * (2w), then 0.1 * (2w + 0.5 * m)
        optimizer.zero_grad()
        w.square().sum().backward()
        optimizer.step()
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-6)


def test_gradients_are_turned_on_where_nobody_has_said():
    w, frozen = Tensor([1.0]), Tensor([1.0], requires_grad=False)
    counter = Tensor([1])
    optimizer = optim.SGD([w, frozen, counter])
    assert w.requires_grad and frozen.requires_grad is False
    assert [id(t) for t in optimizer.params] == [id(w)]
    assert [id(t) for t in optimizer.buffers] == [id(frozen), id(counter)]


def test_a_parameter_given_twice_counts_once():
    w = Tensor([1.0])
    optimizer = optim.SGD([w, w], lr=0.5)
    assert len(optimizer.params) == 1
    (w * 1.0).sum().backward()
    optimizer.step()
    assert w.item() == 0.5


@pytest.mark.parametrize("kind", [optim.AdamW, optim.SGD])
def test_a_parameter_without_gradient_stays_as_it_is(kind):
    used, unused = Tensor([1.0]), Tensor([1.0])
    optimizer = kind([used, unused], lr=0.1)
    used.sum().backward()
    optimizer.step()
    assert used.item() != 1 and unused.item() == 1


def test_running_statistics_are_of_the_weights_before_the_step():
    layer, norm = nn.Linear(1, 1, bias=False), nn.BatchNorm(1, momentum=1.0)
    layer.weight = Tensor([[2.0]])
    optimizer = optim.SGD([layer.weight], lr=100.0)  # which is not told of the statistics
    with Tensor.train():
        (norm(layer(Tensor([[1.0], [3.0]]))) * Tensor([[1.0], [2.0]])).sum().backward()
        optimizer.step()
    assert norm.running_mean.item() == 4


def test_a_step_is_allowed_outside_training_and_without_realizing_before():
    w = Tensor([1.0])
    optimizer = optim.SGD([w], lr=0.5)
    w.sum().backward()
    loss = Tensor([3.0]) + w
    loss.realize(*optimizer.schedule_step())
    assert loss.item() == 4 and w.item() == 0.5


def test_the_learning_rate_can_be_set_to_a_number():
    w = Tensor([1.0])
    optimizer = optim.SGD([w], lr=0.5)
    optimizer.lr = 2.0
    w.sum().backward()
    optimizer.step()
    assert w.item() == -1 and optimizer.lr.item() == 2


def test_half_parameters_keep_their_dtype_and_their_states_float32():
    w = Tensor([1.0, -1.0]).half()
    optimizer = optim.Adam([w], lr=0.25)
    (w.float() * 1e-4).sum().backward()
    optimizer.step()
    assert w.dtype is dtypes.half and optimizer.v[0].dtype is dtypes.float32
    np.testing.assert_allclose(w.numpy(), [0.75, -1.25], rtol=1e-3)


def test_a_group_steps_all_its_optimizers():
    matrix, vector = Tensor(np.eye(2, dtype=np.float32)), Tensor([1.0])
    group = optim.OptimizerGroup(optim.Muon([matrix], lr=0.5), optim.SGD([vector], lr=1.0))
    (matrix.sum() + vector.sum()).backward()
    group.step()
    assert vector.item() == 0 and not np.array_equal(matrix.numpy(), np.eye(2))
    group.zero_grad()
    assert matrix.grad is None and vector.grad is None and group[1].lr.item() == 1


def by_safetensors(w, optimizer, path):
    nn.state.safe_save(nn.state.get_state_dict(optimizer), path)
    other = Tensor.zeros(2)
    again = optim.Adam([other])
    nn.state.load_state_dict(again, nn.state.safe_load(path))
    return other, again


def by_pickle(w, optimizer, path):
    path.write_bytes(pickle.dumps((w, optimizer)))
    other, again = pickle.loads(path.read_bytes())
    assert again.params[0] is other
    return other, again


@pytest.mark.parametrize("saved_and_loaded", [by_safetensors, by_pickle])
def test_an_optimizer_that_is_saved_goes_on_as_if_nothing_had_happened(tmp_path, saved_and_loaded):
    def steps(w, optimizer, count):
        for _ in range(count):
            optimizer.zero_grad()
            (w - 1).square().sum().backward()
            optimizer.step()

    w = Tensor([3.0, -2.0])
    optimizer = optim.Adam([w], lr=0.5)
    steps(w, optimizer, 2)
    optimizer.lr = 0.25
    other, again = saved_and_loaded(w, optimizer, tmp_path / "optimizer")
    steps(w, optimizer, 3)
    assert again.t.item() == 2 and again.lr.item() == 0.25
    steps(other, again, 3)
    np.testing.assert_array_equal(w.numpy(), other.numpy())


def small_steps(optimizer, count, *grads):
    for _ in range(count):
        for tensor, grad in zip(optimizer.params, grads, strict=True):
            tensor.grad = None if grad is None else Tensor([grad])
        optimizer.step()
    return [tensor.item() for tensor in optimizer.params]


def test_the_steps_that_a_parameter_missed_are_saved_and_loaded():
    optimizer = optim.Adam([Tensor([1.0]), Tensor([1.0])], lr=0.1)
    small_steps(optimizer, 3, 1.0, None)
    other = optim.Adam([Tensor([0.0]), Tensor([0.0])])
    nn.state.load_state_dict(other, nn.state.get_state_dict(optimizer))
    assert [missed.item() for missed in other.missed] == [0, 3]
    assert small_steps(other, 2, 2.0, -3.0) == small_steps(optimizer, 2, 2.0, -3.0)


@pytest.mark.parametrize("prefix", ["", "trainer.optimizer."])
def test_a_file_from_when_all_parameters_had_one_counter_is_loaded(prefix):
    optimizer = optim.Adam([Tensor([1.0]), Tensor([1.0])], lr=0.1)
    small_steps(optimizer, 3, 1.0, -1.0)
    state = nn.state.get_state_dict(optimizer)
    old = {prefix + n: t for n, t in state.items() if "missed." not in n}
    other = optim.Adam([Tensor([0.0]), Tensor([0.0])])
    small_steps(other, 2, 1.0, None)
    holder = {"trainer": {"optimizer": other}} if prefix else other
    nn.state.load_state_dict(holder, old)
    assert small_steps(other, 2, 2.0, -3.0) == small_steps(optimizer, 2, 2.0, -3.0)


def test_one_kernel_counts_the_steps_of_all_parameters():
    def kernels(count, missing=0):
        optimizer = optim.Adam([Tensor(np.full((3, 2), n, np.float32)) for n in range(count)])
        for tensor in optimizer.params[missing:]:
            tensor.grad = Tensor(np.ones((3, 2), np.float32)).realize()
        Tensor.realize(*optimizer.params)
        before = GlobalCounters.kernel_count
        optimizer.step()
        return GlobalCounters.kernel_count - before

    assert kernels(30) - kernels(20) == 10
    assert kernels(20, missing=3) == kernels(20) - 3 + 1  # and one for those that missed it


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: optim.SGD(Tensor([1.0])), TypeError, "[parameter]"),
        (lambda: optim.SGD([]), ValueError, "nothing to optimize"),
        (lambda: optim.SGD([Tensor([1])]), ValueError, "none of the 1"),
        (lambda: optim.SGD([Tensor([1.0])], lr=-1), ValueError, "lr is 0 or more, not -1"),
        (lambda: optim.SGD([Tensor([1.0])], nesterov=True), ValueError, "momentum"),
        (lambda: optim.Adam([Tensor([1.0])], b1=1.0), ValueError, "b1 is from 0 to below 1"),
        (lambda: optim.Muon([Tensor([1.0])]), ValueError, "matrices, not for a parameter"),
        (lambda: optim.SGD([Tensor([1.0])]).step(), RuntimeError, "loss.backward() first"),
    ],
)
def test_a_mistake_is_explained(make, kind, words):
    with pytest.raises(kind) as caught:
        make()
    assert words in str(caught.value)


# ---- schedules -----------------------------------------------------------------------------------


def test_a_function_of_the_step_is_a_schedule():
    optimizer = optim.SGD([Tensor([0.0])], lr=8.0)
    schedule = lr.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    rates = [optimizer.lr.item()]
    for _ in range(3):
        schedule.step()
        rates.append(optimizer.lr.item())
    assert rates == pytest.approx([8, 4, 8 / 3, 2])


def test_a_second_schedule_begins_from_the_rate_before_the_first():
    optimizer = optim.SGD([Tensor([0.0])], lr=1.0)
    lr.LinearLR(optimizer, start_factor=0.1)
    assert lr.CosineAnnealingLR(optimizer, 10).get_lr().item() == 1


def test_schedules_refuse_what_does_not_fit():
    optimizer = optim.SGD([Tensor([0.0])])
    with pytest.raises(ValueError, match="2 schedules need 1 milestones"):
        lr.SequentialLR(optimizer, [lr.StepLR(optimizer, 1), lr.StepLR(optimizer, 2)], [1, 2])


def test_settings_that_there_are_stand_in_the_signature_and_in_the_error():
    shown = "(params, lr=0.001, b1=0.9, b2=0.999, eps=1e-08, weight_decay=0.0)"
    assert str(inspect.signature(optim.Adam)) == shown
    with pytest.raises(TypeError) as caught:
        optim.Adam([Tensor([1.0])], betas=(0.9, 0.999))
    assert f"Adam{shown}" in str(caught.value) and "betas" in str(caught.value)
