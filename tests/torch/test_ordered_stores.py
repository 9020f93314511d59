"""Scatters and their gradients, beside PyTorch: places repeat, values tie or are 0."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import evaluate
from tests.values import computed, sometimes
from tinyframe import Tensor

REDUCES = ["sum", "prod", "mean", "amax", "amin"]


@st.composite
def cases(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axis, count = draw(st.integers(0, len(shape) - 1)), draw(st.integers(1, 9))
    places = tuple(count if d == axis else draw(st.integers(1, n)) for d, n in enumerate(shape))
    return tuple(shape), axis, places, draw(st.integers(0, 2**32 - 1))


@given(cases(), st.sampled_from(REDUCES), st.booleans(), sometimes)
def test_what_is_combined_at_a_place_and_its_gradients(case, reduce, include_self, compiled):
    shape, axis, places, seed = case
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-1, 3, s).astype(np.float32) for s in (shape, places, shape)]
    # PyTorch counts an old value that ties among the largest even where it isn't included
    arrays[0] += 0 if include_self else 0.5
    index = rng.integers(0, shape[axis], places)
    x, values, weight = (Tensor(a, requires_grad=n < 2) for n, a in enumerate(arrays))
    theirs = [torch.tensor(a, requires_grad=n < 2) for n, a in enumerate(arrays)]
    got = x.scatter_reduce(axis, Tensor(index), values, reduce, include_self)
    wanted = theirs[0].scatter_reduce(
        axis, torch.tensor(index), theirs[1], reduce, include_self=include_self
    )
    (got * weight).sum().backward()
    (wanted * theirs[2]).sum().backward()
    made = got, x.grad, values.grad
    found = computed(*made) if compiled else [evaluate(t.uop) for t in made]
    np.testing.assert_allclose(found[0], wanted.detach().numpy(), rtol=1e-5)
    for mine, other in zip(found[1:], theirs, strict=False):
        np.testing.assert_allclose(mine, other.grad.numpy(), rtol=1e-5, atol=1e-6)


@given(cases())
def test_of_what_is_overwritten_only_the_last_has_a_gradient(case):
    shape, axis, places, seed = case
    rng = np.random.default_rng(seed)
    x, values = (Tensor(rng.random(s, np.float32), requires_grad=True) for s in (shape, places))
    numbers = np.arange(1, values.numel() + 1, dtype=np.float32).reshape(places)
    index = Tensor(rng.integers(0, shape[axis], places))
    x.scatter(axis, index, values).square().sum().backward()
    stays = Tensor.zeros(*shape).scatter(axis, index, Tensor(numbers))
    stays, to_values, to_x = computed(stays, values.grad, x.grad)
    won = np.isin(numbers, stays)
    np.testing.assert_allclose(to_values, won * 2 * values.numpy(), rtol=1e-6)
    np.testing.assert_allclose(to_x, (stays == 0) * 2 * x.numpy(), rtol=1e-6)
