"""Random programs of gradients across changes and captured calls, beside a model in PyTorch.

That it means what PyTorch does is said by ops/test_history.py, whose numbers are PyTorch's.
"""

from __future__ import annotations

import ast

import pytest
import torch

from tests.fuzz import histories
from tests.fuzz.histories import Different, Impossible, check, random_program, shrunk, world
from tinyframe import Context


@pytest.mark.parametrize("seed", range(24))
def test_programs_agree_with_the_model(seed):
    with Context(DEVICE="PYTHON" if seed % 3 else "CPU"):
        check(random_program(seed))


@pytest.mark.parametrize("seed", range(20))
def test_programs_with_captured_calls_agree_with_the_model(seed):
    with Context(DEVICE="PYTHON" if seed % 2 else "CPU"):
        check(random_program(seed, calls=True))


# ---- the model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", [
    "d[0] = w[0] * 3",  # what has a history, through a detached view
    "w.unsqueeze(0).expand(2, 2).assign(w)",
    "d.sum().backward()",
    "show(*w.sum().gradient(w[1:]))",
    "show(x[:n.bind(1)])",  # a slice that could be outside of x
])  # fmt: skip
def test_the_model_refuses_what_no_program_should_do(statement):
    names, _ = world(of_model=True)
    exec("w = Tensor([1., 2.], requires_grad=True); d = Tensor([0., 0.]).detach()", names)
    exec("x = Tensor([1., 2.]); n = Variable('n', 1, 3)", names)
    with pytest.raises(Impossible):
        exec(statement, names)


def test_what_went_wrong_is_made_short(monkeypatch):
    monkeypatch.setitem(histories.METHODS, "tanh", torch.sin)
    program = """
x1 = Tensor([3., 1.])
y1 = (x1 * 2).tanh() + x1
show(y1)"""
    statements = [ast.unparse(statement) for statement in ast.parse(program).body]
    with Context(DEVICE="PYTHON"):
        short = shrunk(statements)
        with pytest.raises(Different, match="shown"):
            check(short)
    assert len("\n".join(short)) < 45, "\n".join(short)
