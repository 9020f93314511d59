"""The NULL device: the kernels, operations and bytes of a run, without running or memory."""

from __future__ import annotations

import functools
import gc
import importlib
import re

import numpy as np
import pytest

from tests.kernels import on_buffer, program_of
from tinyframe import Context, Device, GlobalCounters, Tensor, TinyJit, Variable, dtypes, nn
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.renderer import Renderer
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.run.realize import get_kernel
from tinyframe.runtime.null import LANGUAGES, NoValuesError
from tinyframe.tools.plans import explain

EVERY = ["NULL", "NULL:1", *[f"NULL:{language}" for language in LANGUAGES]]


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_is_a_device_of_its_own(language):
    name = f"NULL:{language}"
    assert Device.canonicalize(f" null:{language.lower()} ") == name
    assert Device[name] is Device[name.lower()] is not Device["NULL"]
    module, _, cls = LANGUAGES[language].partition(":")
    assert type(Device[name].renderer) is getattr(importlib.import_module(module), cls)
    assert isinstance(Device[name].renderer, Renderer)
    assert Tensor.empty(3, device=name.lower()).device == name


def test_other_names_of_a_device_name_its_language_too():
    assert Device.canonicalize("NULL:CLANG") == "NULL:CPU"
    assert Device.canonicalize("NULL:0") == "NULL"
    assert Device.canonicalize("null:2") == "NULL:2"


@pytest.mark.parametrize("name", ["NULL:", "NULL:FORTRAN", "NULL:-1", "NULL:CPU:1"])
def test_an_unknown_language_is_answered_with_those_there_are(name):
    said = f"device '{name}': put a number after the colon, as in \"NULL:1\", or one of CPU"
    with pytest.raises(ValueError, match=re.escape(said)):
        Device.canonicalize(name)


def test_no_other_device_has_languages():
    with pytest.raises(ValueError, match='put a number after the colon, as in "CPU:1"$'):
        Device.canonicalize("CPU:METAL")


# ---- what is counted -----------------------------------------------------------------------------


def softmax(device: str) -> Tensor:
    return Tensor.rand(40, 50, device=device).softmax()


def network(device: str) -> Tensor:
    w = Tensor.ones(8, 3, 3, 3, device=device).contiguous()
    return (Tensor.rand(4, 3, 16, 16, device=device).conv2d(w).relu().mean((2, 3)) * 2).sum()


def training_step(device: str) -> Tensor:
    with Context(DEVICE=device):
        model = nn.Sequential(nn.Linear(20, 30), Tensor.relu, nn.Linear(30, 10))
        optimizer = nn.optim.Adam(nn.state.get_parameters(model))
        with Tensor.train():
            labels = Tensor.zeros(16, dtype=dtypes.int).contiguous()
            loss = model(Tensor.rand(16, 20)).sparse_categorical_crossentropy(labels).backward()
            optimizer.step()
        return loss


def of_a_variable(device: str) -> Tensor:
    n = Variable("n", 1, 100).bind(7)
    return Tensor.rand(100, device=device).realize()[:n].sum()


def copied(device: str) -> Tensor:
    return Tensor(np.arange(1000, dtype=np.float32), device=device) * 2


def counts(make, device: str) -> tuple[int, int, int, int]:
    Tensor.manual_seed(0)
    gc.collect()  # what earlier tests left behind is given back now, not meanwhile
    GlobalCounters.reset()
    before = GlobalCounters.mem_used
    result = make(device).realize()
    held = GlobalCounters.mem_used - before
    assert result.device == device
    return (GlobalCounters.kernel_count, GlobalCounters.global_ops, GlobalCounters.global_mem, held)


@functools.cache
def counts_of_a_real_run(make) -> tuple[int, int, int, int]:
    return counts(make, "CPU")


@pytest.mark.parametrize("make", [softmax, network, of_a_variable, copied])
@pytest.mark.parametrize("device", ["NULL", "NULL:1"])
def test_kernels_operations_and_bytes_are_those_of_a_real_run(make, device):
    assert counts(make, device) == counts_of_a_real_run(make)
    assert counts_of_a_real_run(make)[0] > 0


@pytest.mark.parametrize("device", EVERY)
def test_a_network_is_trained_in_every_language(device):
    assert counts(training_step, device) == counts_of_a_real_run(training_step)


def test_a_captured_step_runs_the_same_kernels_every_time():
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return ((x @ x).relu().sum(1) + 1).realize()

    seen = []
    for _ in range(4):
        x = Tensor.rand(50, 50, device="NULL").realize()
        GlobalCounters.reset()
        step(x)
        seen.append((GlobalCounters.kernel_count, GlobalCounters.global_mem))
    assert len(set(seen)) == 1
    assert seen[0][0] > 0


def test_a_tensor_larger_than_any_memory_is_scheduled():
    GlobalCounters.reset()
    (Tensor.empty(1 << 20, 1 << 20, device="NULL") + 1).realize()
    assert (GlobalCounters.kernel_count, GlobalCounters.global_mem) == (1, 8 << 40)


def test_with_the_same_opts_the_source_is_that_of_the_cpu():
    opts = [Opt(OptOps.SPLIT, 0, 4), Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UNROLL, 2, 4)]

    def source(device: str) -> str:
        return program_of(on_buffer(8, 64, device=device) @ on_buffer(64, 64, device=device),
                          opts, device).src  # fmt: skip

    assert source("NULL") == source("CPU")


def test_its_plans_do_not_depend_on_the_machine():
    assert Device["NULL"].renderer.target == CStyleLanguage.default_target
    assert Device["NULL"].renderer.target.threads == 1


# ---- what is shown -------------------------------------------------------------------------------


def test_debug_shows_each_kernel(capsys):
    with Context(DEBUG=2):
        Tensor.empty(30, 40, device="NULL:CPU").sum(1).realize()
    assert re.search(r"^NULL:CPU r_\S+ +30 <- 30x40 +0.0 us", capsys.readouterr().out, re.M)


def test_plans_are_explained_where_it_is_the_default():
    with Context(DEVICE="NULL"):
        assert "plan: register tile" in explain(Tensor.empty(64, 64) @ Tensor.empty(64, 64))


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", EVERY)
def test_reading_is_an_error_that_says_where_there_are_values(device):
    said = f"the NULL device has no values: {device} compiles kernels and counts them"
    x = Tensor([1.0, 2.0, 3.0], device=device)
    for read in (
        lambda: (x + 1).numpy(),
        x.numpy,
        x.sum().item,
        x.tolist,
        lambda: (x * 2).to("CPU").numpy(),
        lambda: x.realize().to("CPU").realize(),
        Tensor.ones(3, device=device).numpy,  # it never needed a kernel
    ):
        with pytest.raises(NoValuesError, match=said):
            read()


def test_nothing_can_be_read_and_everything_else_still_works_after_that():
    x = Tensor([1.0, 2.0], device="NULL")
    with pytest.raises(NoValuesError):
        x.numpy()
    GlobalCounters.reset()
    (x + 1).realize()
    assert GlobalCounters.kernel_count == 1
    assert Tensor([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_a_copy_to_it_needs_no_kernel():
    x = Tensor([1.0, 2.0]).realize()
    GlobalCounters.reset()
    assert x.to("NULL").realize().device == "NULL"
    assert GlobalCounters.kernel_count == 0


def test_nothing_of_no_elements_is_read():
    assert Tensor.empty(0, 3, device="NULL").numpy().shape == (0, 3)


def test_a_search_has_nothing_to_time_and_leaves_the_plan():
    total = Tensor.empty(45, 46, device="NULL").sum(0)
    (item,) = total.schedule()
    planned = get_kernel(item.ast, "NULL").spec
    with Context(BEAM=2):
        assert get_kernel(item.ast, "NULL").spec.opts == planned.opts != []
