"""Programs of the kinds that come with tinygrad, small: they import what those import, from here.

Each returns what it found and, where NumPy or a plainer program says what that should be, the
expected values. `docs/from_tinygrad.md` is for those who bring such a program.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.reference import evaluate
from tinyframe import Context, GlobalCounters, Tensor, TinyJit, UOp, dtypes, nn
from tinyframe.dtype import dtypes as dtypes_by_path
from tinyframe.engine.jit import TinyJit as jit_by_path
from tinyframe.function import function
from tinyframe.helpers import (
    BEAM,
    CI,
    DEBUG,
    JIT,
    Timing,
    colored,
    fetch,
    flatten,
    get_child,
    getenv,
    partition,
    prod,
    tqdm,
    trange,
)
from tinyframe.nn.datasets import cifar, mnist
from tinyframe.nn.download import DownloadError
from tinyframe.nn.optim import SGD, Adam, AdamW, Muon, OptimizerGroup
from tinyframe.nn.state import (
    torch_load,
)
from tinyframe.tensor import Tensor as tensor_by_path
from tinyframe.uop.ops import UOp as uop_by_path

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


# ---- training ------------------------------------------------------------------------------------


@program
def convolutions_on_digits():
    layers = [
        nn.Conv2d(1, 4, 5), Tensor.relu, nn.BatchNorm(4), Tensor.max_pool2d,
        lambda x: x.flatten(1), nn.Linear(4 * 12 * 12, 10),
    ]  # fmt: skip
    optimizer = nn.optim.Adam(nn.state.get_parameters(layers), fused=False)
    images, labels = Tensor.rand(16, 1, 28, 28), Tensor.randint(16, high=10)

    @TinyJit
    @Context(TRAINING=1)
    def step() -> Tensor:
        optimizer.zero_grad()
        samples = Tensor.randint(getenv("BS", 8), high=images.shape[0])
        loss = images[samples].sequential(layers)
        loss = loss.sparse_categorical_crossentropy(labels[samples]).backward()
        return loss.realize(*optimizer.schedule_step())

    @TinyJit
    def accuracy() -> Tensor:
        return (images.sequential(layers).argmax(axis=1) == labels).mean() * 100

    for number in (bar := trange(30, disable=True)):
        GlobalCounters.reset()
        optimizer.lr.assign(Tensor([0.001 * (1 - number / 60)]).reshape(())).realize()
        bar.set_description(colored(f"loss {step().item():.2f}", "green"))
    return accuracy().numpy() > 60, True


@program
def gradients_that_add_up():
    weight = Tensor.eye(3).contiguous().realize()
    optimizer = SGD([weight], lr=0.5)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)

    @function
    def loss_of(x: Tensor) -> Tensor:
        return (x @ weight).square().sum() / 4

    optimizer.zero_grad()
    for row in Tensor(rows).split(1):
        loss_of(row).backward()
    optimizer.step()
    return weight, np.eye(3) - 0.5 * 2 * rows.T @ rows / 4


@program
def a_low_rank_change_of_a_frozen_weight():
    frozen = nn.Linear(4, 4, bias=False)
    frozen.weight.is_param_(False)
    down, up = Tensor.kaiming_uniform(4, 1).is_param_(), Tensor.zeros(1, 4).contiguous().is_param_()
    optimizer = Adam([down, up], lr=0.1)
    before, x = frozen.weight.numpy(), Tensor.eye(4)
    with Context(TRAINING=1):
        for _ in range(60):
            loss = (frozen(x) + x @ down @ up - frozen.weight.T - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    same = np.array_equal(frozen.weight.numpy(), before)
    return [loss.item() < 0.01, same, frozen.weight.is_param], [True, True, False]


@program
def an_attack_on_the_input():
    with Context(ALL_GRADS=1):  # as in tinygrad, where nothing has to be marked
        image, weight = Tensor([[0.5, -0.5, 1.0]]), Tensor([[1.0], [-2.0], [0.0]])
        score = (image @ weight).relu()
        score.sum().backward()
    found = [image.grad, weight.grad.T, score.grad, (image + 0.1 * image.grad.sign())]
    return found, [[[1, -2, 0]], [[0.5, -0.5, 1]], [[1]], [[0.6, -0.6, 1]]]


# ---- what they write -----------------------------------------------------------------------------

X = np.arange(1, 17, dtype=np.float32).reshape(1, 4, 2, 2) / 8

# an expression of `x`, and what it is for the same array
FORMS = [
    ("x.flip(axis=(2, 3)).flip(3).flip(axis=2)", X),
    ("x.reshape(shape=(2, -1)).permute(order=(1, 0))", X.reshape(2, -1).T),
    ("x[:, :1].expand(shape=(1, 3, 2, 2))", np.broadcast_to(X[:, :1], (1, 3, 2, 2))),
    ("x.square().sum(axis=-1, keepdim=True).sqrt()", np.linalg.norm(X, axis=-1, keepdims=True)),
    ("x.pad((0, 1, 0, 1))", np.pad(X, ((0, 0), (0, 0), (0, 1), (0, 1)))),
    ("x.pad((0, 1, 0, 1)).conv2d(Tensor.ones(4, 1, 3, 3), stride=2, groups=4)",
     X.sum((2, 3), keepdims=True)),
    ("x.avg_pool2d(x.shape[2:4])", X.mean((2, 3), keepdims=True)),
    ("x.repeat_interleave(2, 2).repeat_interleave(2, 3)", np.kron(X, np.ones((1, 1, 2, 2)))),
    ("x.interpolate((4, 4), mode='nearest').avg_pool2d((2, 2))", X),
    ("x.flatten(1).cat(x.flatten(1), dim=-1).chunk(2, dim=1)[1]", X.reshape(1, -1)),
    ("Tensor.stack(*[part for part in x[0]], dim=1)", X[0].swapaxes(0, 1)),
    ("x.flatten(1).softmax(-1).topk(2)[1]", [[15, 14]]),
    ("x.flatten(1).linear(Tensor.eye(16), Tensor.zeros(16))", X.reshape(1, -1)),
    ("x.half().cast(dtypes.float).flatten(2).cross_entropy(Tensor([[0, 1, 2, 3]]),"
     " reduction='none', label_smoothing=0.2).shape", (1, 4)),
    ("nn.Conv1d(2, 6, kernel_size=3, stride=2, padding=1)(x[0]).gelu().shape", (4, 6, 1)),
    ("nn.Conv3d(1, 2, kernel_size=(3, 3, 3), stride=2, padding=(1,) * 6, bias=False)"
     "(x[None]).shape", (1, 2, 2, 1, 1)),
    ("nn.ConvTranspose2d(4, 1, kernel_size=(2, 2), stride=2)(x).shape", (1, 1, 4, 4)),
    ("nn.InstanceNorm(4)(x).mean((2, 3))", np.zeros((1, 4))),
    ("nn.LayerNorm(4, eps=1e-6)(x.permute(0, 2, 3, 1)).mean(-1)", np.zeros((1, 2, 2))),
    ("nn.LSTMCell(2, 3)(x[0, 0], None)[0].shape", (2, 3)),
    ("Tensor.einsum('bcik,bcjk->bcij', x, x)", X @ X.swapaxes(2, 3)),
    ("Tensor.scaled_uniform(6, 3, 4, 4).contiguous_backward().shape", (6, 3, 4, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("form", "expected"), FORMS, ids=[form for form, _ in FORMS])
def test_an_expression_may_be_written_so(form, expected):
    found = eval(form, {"x": Tensor(X), "Tensor": Tensor, "nn": nn, "dtypes": dtypes})
    value = evaluate(found.uop) if isinstance(found, Tensor) else np.asarray(found)
    np.testing.assert_allclose(value, np.asarray(expected), rtol=2e-4, atol=2e-5)


# ---- the programs, and what they import ----------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_that_kind_finds_what_it_should(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Tensor.manual_seed(7)
    found, expected = PROGRAMS[name]()
    both = [found] if not isinstance(found, list) else found
    wanted = [expected] if not isinstance(found, list) else expected
    for one, other in zip(both, wanted, strict=True):
        value = one.numpy() if isinstance(one, Tensor) else np.asarray(one)
        np.testing.assert_allclose(value, np.asarray(other), rtol=2e-4, atol=2e-5)
    assert not Tensor.training


def test_names_lie_where_such_programs_look_for_them():
    assert (tensor_by_path, jit_by_path, uop_by_path) == (Tensor, TinyJit, UOp)
    assert dtypes_by_path is dtypes
    assert (DEBUG, JIT, BEAM, CI) == (0, 1, 0, getenv("CI", "") != "")
    assert all(map(callable, (torch_load, mnist, cifar, tqdm, Muon, AdamW, OptimizerGroup)))


def test_the_small_functions():
    assert prod((2, 3, 4)) == 24 and prod(()) == 1
    assert flatten([[1], [2, 3]]) == [1, 2, 3]
    assert partition([1, 2, 3], lambda n: n > 1) == ([2, 3], [1])
    assert get_child({"a": [nn.Linear(2, 3)]}, "a.0.weight").shape == (3, 2)
    assert colored("x", "red") == "\x1b[31mx\x1b[0m" and colored("x", None) == "x"
    assert colored("x", "GREEN", background=True) == "\x1b[102mx\x1b[0m"


def test_a_variable_of_the_environment_has_the_type_of_its_default(monkeypatch):
    monkeypatch.setenv("STEPS", "12")
    assert (getenv("STEPS"), getenv("STEPS", 1.5), getenv("STEPS", "")) == (12, 12.0, "12")
    assert (getenv("NO_SUCH", 3), getenv("NO_SUCH")) == (3, 0)


def test_loops_and_blocks_say_how_far_they_are(capsys):
    for number in (bar := trange(3, desc="reading")):
        bar.set_description(f"at {number}")
    with Timing("slept ", lambda ns: f", {ns >= 0}"):
        pass
    said = capsys.readouterr()
    assert said.err == "at 2 3\n"
    assert said.out.startswith("slept ") and said.out.endswith(" ms, True\n")


def test_without_a_network_a_file_is_asked_for_by_its_place(tmp_path, monkeypatch):
    url = "http://127.0.0.1:9/some/weights.bin"
    with Context(TINYFRAME_DATA=tmp_path):
        place = tmp_path / "fetched" / "127.0.0.1:9" / "some" / "weights.bin"
        with pytest.raises(DownloadError, match=f"put the file at {place}"):
            fetch(url)
        place.write_bytes(b"here")
        assert fetch(url).read_bytes() == b"here"
    assert fetch("here.bin") == Path("here.bin")


def test_all_gradients_can_be_asked_for_from_the_outside():
    code = "from tinyframe import Tensor; x = Tensor([2.0]); (x * x).backward(Tensor([1.0]))"
    code += "; assert x.grad.tolist() == [4]"
    command = [sys.executable, "-c", code]
    root = str(Path(__file__).parents[2])
    env = {"PYTHONPATH": root, "ALL_GRADS": "1", "PATH": "/usr/bin:/bin"}
    assert subprocess.run(command, env=env).returncode == 0


def test_training_is_one_switch_with_three_names():
    assert not Tensor.training
    with Context(TRAINING=1):
        assert Tensor.training
        with Tensor.train(False):
            assert not Tensor.training
            Tensor.training = True
            assert Tensor.training
        assert Tensor.training
    try:
        Tensor.training = True
        assert Tensor.training
    finally:
        Tensor.training = False
    assert Context(TRAINING=1)(lambda: Tensor.training)()
