"""What is written where no gradient flows changes numbers, and no history: beside PyTorch."""

from __future__ import annotations

import pytest

from tests.fuzz.writes import check, random_program
from tinyframe import Context


@pytest.mark.parametrize("seed", range(40))
def test_programs_that_write_without_gradients_agree_with_pytorch(seed):
    with Context(DEVICE="PYTHON" if seed % 4 else "CPU"):
        check(random_program(seed))


BEGIN = "w = Tensor([0.5, -1., 1.5], requires_grad=True)\ny = w * 2"

# One change each; then gradients through the result, and through what was made of it before.
CHANGES = {
    "an operator": "with Tensor.no_grad(): y += 1",
    "all of it": "with Tensor.no_grad(): write(y, w * 3)",
    "a constant": "with Tensor.no_grad(): write(y, 0.5)",
    "a part": "with Tensor.no_grad(): y[1:] = w[:2]",
    "rows by number": "with Tensor.no_grad(): y[[2, 0]] *= 3",
    "a mask": "with Tensor.no_grad(): y[y > 0] = 0.5",
    "detach()": "d = y.detach()\nd *= 3",
    "a part of detach()": "y.detach()[1] = 7",
    "detach() of a part": "d = y[1:].detach()\nd -= 3",
    "a view of before": "v = y[::2]\nwith Tensor.no_grad(): v *= v",
    "a view of after": "with Tensor.no_grad(): y[::2] *= y[::2]",
    "and written on": "y.detach()[0] = 3\nb = w.tanh()\nrealize(b)\nwrite(b, y)\ny = b",
    "twice": "with Tensor.no_grad(): y += 1; y[0] = 3\nrealize(y)\nwith Tensor.no_grad(): y *= y",
    "with gradients in between": "y.detach()[0] = 3\ny[1] = w[2] * 2\ny.detach()[1] = 4\ny += w",
}


@pytest.mark.parametrize("realized", ["", "realize(y)"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_result_that_is_written_to_keeps_its_history(change, realized):
    through = ["slopes(y.sum() + w.sum(), w)", "back(before.sum() + (y * y).sum(), w)"]
    before = [BEGIN, realized, "before = y.tanh() * y", "slopes(before.sum(), w)"]
    assert check([*before, change, realized, *through, "show(y, w, before)"]) is None
