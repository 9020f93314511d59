"""Optimizers and schedules take the steps that PyTorch's take."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.against_torch import random
from tests.values import assert_close
from tinyframe import Tensor, TinyJit, dtypes, nn
from tinyframe.nn import lr, optim


def torch_options(options: dict) -> dict:
    options = dict(options)
    if "b1" in options or "b2" in options:
        options["betas"] = (options.pop("b1", 0.9), options.pop("b2", 0.999))
    return options


def network(x, w, v, m):
    """Two matrices in a row, a softmax, and a mean: gradients of all sizes."""
    out = (x @ w).relu() @ v
    return ((out.log_softmax(1) * m) + m).sum()


def train(steps, ours, theirs, dtype=np.float32):
    """The parameters after each step, ours and PyTorch's. The batch changes with the step."""
    begin = [random(4, 6, seed=1, dtype=dtype), random(6, 3, seed=2, dtype=dtype)]
    mine = [Tensor(w) for w in begin]
    other = [torch.tensor(w, requires_grad=True) for w in begin]
    optimizer, reference = ours(mine), theirs(other)
    for step in range(steps):
        x, m = random(5, 4, seed=10 + step, dtype=dtype), random(5, 3, seed=50 + step, dtype=dtype)
        optimizer.zero_grad()
        reference.zero_grad()
        network(Tensor(x), *mine, Tensor(m)).backward()
        network(torch.tensor(x), *other, torch.tensor(m)).backward()
        optimizer.step()
        reference.step()
        yield step, [t.numpy() for t in mine], [t.detach().numpy() for t in other]


def assert_agree(ours, theirs, steps, scale, dtype=np.float32):
    kept = dtypes.float32 if dtype is np.float32 else dtypes.float64
    for step, found, expected in train(steps, ours, theirs, dtype):
        for a, b in zip(found, expected, strict=True):
            size = max(1.0, float(abs(b).max()))
            assert_close(a / size, b / size, kept, scale, f"after step {step + 1}")


def both(name, **options):
    """Our optimizer and PyTorch's, with the same options."""
    theirs = torch_options(options)
    return (
        lambda p: getattr(optim, name)(p, **options),
        lambda p: getattr(torch.optim, name)(p, **theirs),
    )


OPTIONS = [
    ("SGD", {"lr": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.9}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 10.0}),
    ("Adam", {"lr": 0.001}),
    ("Adam", {"lr": 0.01, "b1": 0.5, "b2": 0.9, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "b1": 0.0}),
    ("AdamW", {"lr": 0.001}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_six_steps_in_float64_are_those_of_pytorch(name, options):
    assert_agree(*both(name, **options), steps=6, scale=1e-4, dtype=np.float64)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_ten_steps_with_a_high_learning_rate_are_those_of_pytorch(name):
    assert_agree(*both(name, lr=10.0), steps=10, scale=500)


OTHERS = {"lr": 0.02, "momentum": 0.8, "nesterov": False, "weight_decay": 0.0, "ns_steps": 3}


@pytest.mark.parametrize("options", [{"lr": 0.001}, {"lr": 10.0}, OTHERS])
def test_muon_takes_the_steps_of_pytorch_with_its_rounding_to_bfloat16(options):
    # A digit of a gradient that is one off moves a bfloat16 by its last digit now and then.
    assert_agree(*both("Muon", **options), steps=5, scale=500 * max(1, options["lr"]))


def test_a_matrix_made_orthogonal_is_bit_for_bit_that_of_pytorch():
    from torch.optim._muon import _zeropower_via_newtonschulz

    coefficients = (3.4445, -4.775, 2.0315)
    for shape in ((4, 4), (3, 7), (7, 3)):
        g = random(*shape)
        found = optim.orthogonalized(Tensor(g), 5, coefficients, 1e-7).numpy()
        expected = _zeropower_via_newtonschulz(torch.tensor(g), coefficients, 5, 1e-7)
        np.testing.assert_array_equal(found, expected.float().numpy())


def test_lamb_takes_the_steps_of_its_paper():
    def lamb(parameters, lr=0.01, b1=0.9, b2=0.999, eps=1e-6, decay=0.1):
        state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        t = 0

        def step():
            nonlocal t
            t += 1
            for p, (m, v) in zip(parameters, state, strict=True):
                m.mul_(b1).add_(p.grad, alpha=1 - b1)
                v.mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
                update = m / (1 - b1**t) / ((v / (1 - b2**t)).sqrt() + eps) + decay * p.detach()
                trust = p.detach().norm() / update.norm()
                with torch.no_grad():
                    p -= lr * trust * update

        return Reference(parameters, step)

    assert_agree(lambda p: optim.LAMB(p, lr=0.01, weight_decay=0.1), lamb, 8, 50)


@pytest.mark.parametrize("classic", [False, True])
def test_lars_takes_the_steps_of_its_paper(classic):
    def lars(parameters, lr=0.5, momentum=0.9, decay=0.1, tcoef=0.02):
        buffers = [torch.zeros_like(p) for p in parameters]

        def step():
            for p, b in zip(parameters, buffers, strict=True):
                size, slope = p.detach().norm(), p.grad.norm()
                local = lr * tcoef * size / (slope + decay * size)
                inside = local if classic else 1.0
                b.mul_(momentum).add_(inside * (p.grad + decay * p.detach()))
                with torch.no_grad():
                    p -= b if classic else local * b

        return Reference(parameters, step)

    options = {"lr": 0.5, "momentum": 0.9, "weight_decay": 0.1, "tcoef": 0.02, "classic": classic}
    assert_agree(lambda p: optim.LARS(p, **options), lars, 8, 50)


class Reference:
    """A rule written down in this file, with the methods of a PyTorch optimizer."""

    def __init__(self, parameters, step):
        self.parameters, self.step = parameters, step

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None


# ---- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("max_norm", "norm_type"), [
    (0.5, 2.0), (100.0, 2.0), (0.5, 1.0), (100.0, 3.0), (0.5, float("inf"))
])  # fmt: skip
def test_clipping_by_norm_agrees_with_pytorch(max_norm, norm_type):
    grads = [random(3, 4, seed=1), random(5, seed=2)]
    mine, other = [], []
    for g in grads:
        mine.append(Tensor.zeros(*g.shape, requires_grad=True))
        mine[-1].grad = Tensor(g)
        other.append(torch.zeros(*g.shape, requires_grad=True))
        other[-1].grad = torch.tensor(g)
    kept = [t.grad for t in mine]
    norm = nn.clip_grad_norm_(mine, max_norm, norm_type)
    expected = torch.nn.utils.clip_grad_norm_(other, max_norm, norm_type)
    assert_close(norm.numpy(), expected.numpy(), dtypes.float32, 4)
    for a, b, grad in zip(mine, other, kept, strict=True):
        assert_close(a.grad.numpy(), b.grad.numpy(), dtypes.float32, 4)
        assert a.grad is grad


# ---- schedules -----------------------------------------------------------------------------------

SCHEDULERS = torch.optim.lr_scheduler
SCHEDULES = [
    ("StepLR", {"step_size": 4, "gamma": 0.3}),
    ("LinearLR", {"start_factor": 0.1, "total_iters": 7}),
    ("CosineAnnealingLR", {"T_max": 15, "eta_min": 0.01}),
]


def assert_rates_agree(ours, theirs, steps=20):
    w, v = Tensor.zeros(2), torch.zeros(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.7, momentum=0.9)
    reference = torch.optim.SGD([v], lr=0.7, momentum=0.9)
    schedule, expected = ours(optimizer), theirs(reference)
    for step in range(steps + 1):
        found, wanted = optimizer.lr.item(), reference.param_groups[0]["lr"]
        assert found == pytest.approx(wanted, rel=2e-6, abs=1e-7), f"step {step}"
        if step < steps:
            reference.step()
            schedule.step()
            expected.step()


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_twenty_rates_of_a_schedule_are_those_of_pytorch(name, options):
    ours, theirs = getattr(lr, name), getattr(SCHEDULERS, name)
    assert_rates_agree(lambda o: ours(o, **options), lambda o: theirs(o, **options))


def test_one_schedule_after_another_agrees_with_pytorch():
    def three(kinds, optimizer):
        parts = [kinds.LinearLR(optimizer, 0.1, 1.0, 5), kinds.CosineAnnealingLR(optimizer, 10),
                 kinds.StepLR(optimizer, 2, 0.5)]  # fmt: skip
        return kinds.SequentialLR(optimizer, parts, [5, 13])

    assert_rates_agree(lambda o: three(lr, o), lambda o: three(SCHEDULERS, o))


# whether the second of two parameters has a gradient, in one step after another
TURNS = {"late": [0] * 4 + [1] * 6, "a pause": [1] * 4 + [0] * 5 + [1] * 3, "in turns": [0, 1] * 5}


@pytest.mark.parametrize(("name", "turns", "captured"), [
    ("Adam", "late", False), ("Adam", "a pause", True), ("Adam", "in turns", True),
    ("AdamW", "late", True), ("AdamW", "a pause", False), ("AdamW", "in turns", True),
])  # fmt: skip
def test_the_steps_of_each_parameter_are_counted(name, turns, captured):
    options = {"lr": 0.1} | ({"weight_decay": 0.1} if name == "AdamW" else {})
    ours, theirs = [Tensor([1.0]), Tensor([2.0])], [torch.ones(1), torch.full((1,), 2.0)]
    optimizer = getattr(optim, name)(ours, **options)
    reference = getattr(torch.optim, name)([t.requires_grad_() for t in theirs], **options)

    def step(g, is_both):
        optimizer.zero_grad()
        ours[0].grad, ours[1].grad = g * 1, g * 2 if is_both else None
        optimizer.step()
        return ours[0] * 1

    kinds = [lambda g: step(g, False), lambda g: step(g, True)]
    kinds = [TinyJit(kind) for kind in kinds] if captured else kinds
    for number, is_both in enumerate(TURNS[turns]):
        g = number % 3 - 0.75
        kinds[is_both](Tensor([g]).realize())
        theirs[0].grad = torch.tensor([g])
        theirs[1].grad = torch.tensor([2 * g]) if is_both else None
        reference.step()
        found, expected = [t.item() for t in ours], [t.item() for t in theirs]
        np.testing.assert_allclose(found, expected, rtol=2e-6, err_msg=f"after step {number}")
