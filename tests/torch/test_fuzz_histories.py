"""Random programs of gradients across changes and captured calls, beside a model in PyTorch; and
that model beside PyTorch as one would write it by hand."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from tests.fuzz import histories
from tests.fuzz.histories import Different, Impossible, check, random_program, shrunk, world


@pytest.mark.parametrize("seed", range(24))
def test_programs_agree_with_the_model(seed):
    check(random_program(seed))


@pytest.mark.parametrize("seed", range(20))
def test_programs_with_captured_calls_agree_with_the_model(seed):
    check(random_program(seed, calls=True))


# ---- the model -----------------------------------------------------------------------------------

# What a Tensor means, and the same in PyTorch, where each value of a parameter is one of its own.
EXAMPLES = {
    "a change between a loss and its gradient": (
        """
w = Tensor([1., 2.], requires_grad=True)
y = (w * 3).sum()
with Tensor.no_grad(): w.assign(w * 2)
w.realize()
y.backward()
show(w.grad, w)""",
        """
w = tensor([1., 2.], requires_grad=True)
(w * 3).sum().backward()
show(w.grad, w * 2)""",
    ),
    "columns, a mask and a value with a history": (
        """
w = Tensor([1., 2.], requires_grad=True)
b = Tensor.zeros(2, 2).contiguous().realize()
b[:, 0] = w * 3
y = b * b
b[b > 4] = 0.5
b[0] = w[0] * 5
(y + b).sum().backward()
show(w.grad, b, y)""",
        """
w = tensor([1., 2.], requires_grad=True)
b = torch.zeros(2, 2)
b[:, 0] = w * 3
y = b * b
b = torch.where(b > 4, 0.5, b)
b[0] = w[0] * 5
(y + b).sum().backward()
show(w.grad, b, y)""",
    ),
    "by a Tensor that has been written to": (
        """
x = Tensor([1., 2.])
y = x * x
x[0] = x[1] * 3
show(*(x * y).sum().gradient(x))""",
        """
x = tensor([1., 2.], requires_grad=True)
y = x * x
new = torch.stack([x[1] * 3, x[1]])
show(*torch.autograd.grad((new * y).sum(), new))""",
    ),
    "a function of a Variable": (
        """
n = Variable("n", 1, 3)
x = Tensor([[1., 2.], [3., 4.], [5., 6.]])
f = TinyJit(lambda t: t.sum(1).realize())
show(*[f(x[:n.bind(k)]) for k in (3, 2, 1, 3)])""",
        "show(*[tensor([3., 7., 11.])[:k] for k in (3, 2, 1, 3)])",
    ),
    "forward captured, and zero_grad on every second call": (
        """
w = Tensor([1., 2.], requires_grad=True)
o = SGD([w], lr=0.125)
f = TinyJit(lambda t: (t * w).square().sum())
for k in range(5):
    t = Tensor([k / 2, 1.], requires_grad=True)
    f(t).backward()
    o.step()
    if k % 2: o.zero_grad()
    show(w, w.grad, t.grad)""",
        """
w = tensor([1., 2.], requires_grad=True)
o = torch.optim.SGD([w], lr=0.125)
for k in range(5):
    t = tensor([k / 2, 1.], requires_grad=True)
    (t * w).square().sum().backward()
    o.step()
    if k % 2: o.zero_grad()
    show(w.clone(), w.grad if w.grad is None else w.grad.clone(), t.grad)""",
    ),
    "backward captured, the step outside": (
        """
w = Tensor([1., 2.], requires_grad=True)
o = SGD([w], lr=0.125)
@TinyJit
def f(t):
    loss = (t * w).square().sum()
    loss.backward()
    return [loss]
for k in range(5):
    show(*f(Tensor([k / 2, 1.])))
    o.step()
    o.zero_grad()""",
        """
w = tensor([1., 2.], requires_grad=True)
o = torch.optim.SGD([w], lr=0.125)
for k in range(5):
    loss = (tensor([k / 2, 1.]) * w).square().sum()
    loss.backward()
    show(loss)
    o.step()
    o.zero_grad()""",
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_model_means_what_pytorch_does(example):
    program, by_hand = EXAMPLES[example]
    names, shown = world(of_model=True)
    exec(program, names)
    expected: list = []

    def show(*tensors):
        expected.extend(None if t is None else t.detach().numpy() for t in tensors)

    exec(by_hand, {"torch": torch, "tensor": torch.tensor, "show": show})
    assert len(shown) == len(expected) > 0
    for got, wanted in zip(shown, expected, strict=True):
        if wanted is None:
            assert got is None
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


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
    short = shrunk(statements)
    with pytest.raises(Different, match="shown"):
        check(short)
    assert len("\n".join(short)) < 45, "\n".join(short)
