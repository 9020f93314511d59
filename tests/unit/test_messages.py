"""A call that cannot work says at once what to write instead."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tinyframe import Tensor, Variable, nn
from tinyframe.errors import AssignError
from tinyframe.nn.layer import TakesTensors
from tinyframe.nn.optim import SGD, Adam
from tinyframe.nn.state import FileError, get_state_dict, load_state_dict, safe_save
from tinyframe.peer_settings import ATTRIBUTES, NAMES

ARRAY = np.zeros((1, 4), np.float32)
P = Variable("p", 0, 4).bind(2)


def x() -> Tensor:
    return Tensor.ones(2, 3)


def model() -> nn.Linear:
    return nn.Linear(4, 2)


def memory() -> Tensor:
    return Tensor.zeros(4, 2).contiguous().realize()


@pytest.mark.parametrize("call, error, words", [
    (lambda: model()(ARRAY), TypeError, "Linear takes a Tensor, not ndarray: Tensor(x)"),
    (lambda: model()([1.0] * 4), TypeError, "not list: Tensor(x)"),
    (lambda: nn.Sequential(nn.ReLU())(ARRAY), TypeError, "ReLU takes a Tensor, not ndarray"),
    (lambda: SGD(model()), TypeError, "nn.state.get_parameters(model)"),
    (lambda: SGD([np.zeros(3)]), TypeError, "not list of ndarray"),
    (lambda: SGD(get_state_dict(model())), TypeError, "not dict of str"),
    (lambda: SGD(model().weight), TypeError, "[parameter]"),
    (lambda: SGD(None), TypeError, "not NoneType"),
    (lambda: nn.clip_grad_norm_(model(), 1.0), TypeError, "nn.state.get_parameters(model)"),
    (lambda: SGD([x()], lr="0.1"), TypeError, "lr is a number, such as 0.001, not '0.1'"),
    (lambda: setattr(SGD([x()]), "lr", "0.1"), TypeError, "lr is a number"),
    (lambda: Adam([x()], b1=None), TypeError, "b1 is a number, such as 0.9, not None"),
    (lambda: nn.Linear("4", 2), TypeError, "a size is an int, not '4' of type str"),
    (lambda: load_state_dict(model(), [1]), TypeError, "is list: nn.state.get_state_dict(model)"),
    (lambda: load_state_dict(model(), {"weight": ARRAY}), TypeError, "`weight` is ndarray"),
    (lambda: safe_save(model(), "never"), TypeError, "is Linear: nn.state.get_state_dict"),
    (lambda: safe_save({"b": 1}, "never"), TypeError, "`b` is int: Tensor(x)"),
    (lambda: safe_save({"__metadata__": x()}, "never"), FileError, "rename it"),
    (lambda: np.sum(x()), TypeError, "write x.sum(), or np.sum(x.numpy())"),
    (lambda: np.mean(x(), axis=0), TypeError, "write x.mean(), or np.mean(x.numpy())"),
    (lambda: np.std(x()), TypeError, "write x.std()"),
    (lambda: x().sum("rows"), TypeError, "an axis is an int (0 is the first, -1 the last), not"),
    (lambda: x().transpose(1.0, 0), TypeError, "not 1.0 of type float: write 1"),
    (lambda: Tensor.zeros(2.0, 3), TypeError, "a size is an int, not 2.0 of type float: write 2"),
    (lambda: Tensor.zeros(2.5), TypeError, "not 2.5 of type float"),
    (lambda: Tensor.rand(Tensor(2)), TypeError, "a Tensor's value is .item()"),
    (lambda: x().reshape(3.0, 2), TypeError, "not 3.0 of type float: write 3"),
    (lambda: x().repeat(2.0, 1), TypeError, "write 2"),
    (lambda: x().cuda(), AttributeError, 'write x.to("CUDA")'),
    (lambda: x().dim(), AttributeError, "write x.ndim"),
    (lambda: x().add_(1), AttributeError, "write x.assign(x.add(...))"),
    (lambda: x().nonsense, AttributeError, "'Tensor' object has no attribute 'nonsense'"),
    (lambda: model().parameters(), AttributeError, "write nn.state.get_parameters(model)"),
    (lambda: nn.ReLU().eval(), AttributeError, "write `with Tensor.train():`"),
    (lambda: nn.lr.OneCycleLR, AttributeError, "write SequentialLR of a LinearLR"),
    (lambda: nn.LeakyReLU(0.1), AttributeError, "write Tensor.leaky_relu: a function is a layer"),
    (lambda: nn.CrossEntropyLoss(), AttributeError, "write Tensor.cross_entropy"),
    (lambda: nn.MSELoss(), AttributeError, "write lambda x, y: (x - y).square().mean()"),
    (lambda: nn.GradScaler(), AttributeError, "write (loss * 1024).backward()"),
    (lambda: nn.optim.RMSprop, AttributeError, "write Adam(params, lr, b1=0)"),
    (lambda: nn.lr.WrongLR, AttributeError, "'tinyframe.nn.lr' has no attribute 'WrongLR'"),
    (lambda: memory()[P:P + 1].assign(1.0), AssignError, "whose bounds lead outside: narrow them"),
    (lambda: memory().__setitem__(slice(P, P + 1), 1.0), AssignError, "narrow them"),
])  # fmt: skip
def test_the_message_says_what_to_write(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_a_tensor_of_none_says_that_it_is_empty():
    with pytest.warns(UserWarning, match=r"Tensor\(\[\]\)") as caught:
        assert Tensor(None).shape == (0,)
    assert caught[0].filename == __file__


def test_every_layer_checks_what_it_is_called_with():
    layers = [
        kind for kind in vars(nn).values() if inspect.isclass(kind) and "__call__" in dir(kind)
    ]
    unchecked = {kind for kind in layers if not issubclass(kind, TakesTensors)}
    assert unchecked == {nn.Sequential} and len(layers) > 20  # its first layer does


def test_what_is_written_instead_is_for_names_that_are_missing():
    for name in ATTRIBUTES:
        assert not (hasattr(Tensor, name) and hasattr(nn.Linear, name)), name
    for name in NAMES:
        assert not any(hasattr(module, name) for module in (nn, nn.optim, nn.lr)), name


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 4, 4)])
def test_no_message_shows_the_graph_of_a_size(shape):
    n = Variable("n", 1, 4).bind(2)
    t = Tensor.ones(*shape)[:n]
    for name, method in inspect.getmembers(Tensor, callable):
        if name.startswith("_") or name in ("train", "no_grad", "manual_seed"):
            continue
        for arguments in [(), (5,), (0, 1), ((3, 2),), (t,), (-1, 3), (0, Tensor([0, 1]))]:
            try:
                method(t, *arguments)
            except Exception as error:
                assert "UOp(" not in str(error), (name, arguments)


def test_sizes_of_a_variable_that_once_were_refused():
    n = Variable("n", 1, 4).bind(2)
    values = np.arange(4, dtype=np.float32) + 1
    z = Tensor(values, requires_grad=True)
    (z[:n].cumsum(0) * Tensor(values)[:n]).sum().backward()
    np.testing.assert_array_equal(z.grad.numpy(), [3, 2, 0, 0])
    np.testing.assert_array_equal(Tensor(values)[:n].diag()[:2, :2].numpy(), np.diag(values[:2]))
