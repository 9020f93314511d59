"""Random programs and random Opts give NumPy's values on each device of this machine.

Here are those that every kernel has to be compiled for, so there are few of each. Where CUDA is its
emulator, that looks for races and for accesses out of bounds too.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from tests import devices
from tests.fuzz import guards, memory
from tests.fuzz.programs import DTYPES, check, random_program
from tests.fuzz.test_guards import narrow_scatters, scatter_agrees
from tests.gpu_kernels import GROUP, LOCAL, graphs, random_opts
from tests.kernels import kernel_of, run_with
from tests.with_blocks import with_blocks
from tinyframe import Context, Device
from tinyframe.codegen import scheduled_kernel
from tinyframe.settings import settings

COMPILED = [name for name in devices.there() if name not in ("CPU", "PYTHON")]
# device -> how many of each kind; a C++ compiler takes its time
PROGRAMS = {"CL": 8, "CL, blocks": 3, "CUDA": 20, "WEBGPU": 20, "PYTHON, blocks": 6, "BLOCKS": 6,
            "BLOCKS, backwards": 6}  # fmt: skip
OPTS = {"CL, blocks": 1, "WEBGPU": 3, "CUDA": 4, "BLOCKS": 8, "BLOCKS, backwards": 8}
CHANGES = {"CL": 3, "CUDA": 8, "WEBGPU": 8}
GUARDS = {"CL": 2, "CUDA": 8, "WEBGPU": 4}


@pytest.fixture(autouse=True)
def races_are_looked_for() -> Iterator[None]:
    with Context(CUDA_EMULATE=2 if settings.CUDA_EMULATE else 0):
        yield


def each(counts: dict[str, int]) -> list[tuple[str, int]]:
    """The devices that are here, each with so many seeds."""
    return [(name, seed) for name, count in counts.items() for seed in range(count)
            if name.partition(",")[0] in (*COMPILED, "PYTHON", "BLOCKS")]  # fmt: skip


def opened(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The device of this name; one that runs blocks only if it is asked to is asked to."""
    has_own = name in COMPILED
    return name if has_own else with_blocks(name.removesuffix(", blocks"), monkeypatch)


@pytest.mark.parametrize(("name", "seed"), each(PROGRAMS))
def test_random_programs_agree(name, seed, monkeypatch):
    device = opened(name, monkeypatch)
    lacking = getattr(Device[device].renderer, "unsupported", ())
    among = [dtype for dtype in DTYPES if dtype not in lacking]
    check(random_program(Random(11000 + seed), among=among), device)


@pytest.mark.parametrize("graph", graphs("CPU"))
@pytest.mark.parametrize("name", dict(each(OPTS)))
def test_random_opts_agree(name, graph, monkeypatch):
    device = opened(name, monkeypatch)
    tensor, expected = graphs(device)[graph]
    renderer = Device[device].renderer
    used = set()
    for seed in range(OPTS[name]):
        kernel = scheduled_kernel(kernel_of(tensor()), renderer)
        opts = random_opts(kernel, Random(f"{graph} {seed}"), renderer.target)
        used |= {opt.op for opt in opts}
        np.testing.assert_array_equal(run_with(tensor(), opts, device), expected, err_msg=str(opts))
    assert used & {LOCAL, GROUP} or OPTS[name] < 4


@pytest.mark.parametrize(("device", "seed"), each(CHANGES))
def test_random_changes_of_memory_and_captured_calls_agree(device, seed):
    with Context(DEVICE=device):
        memory.check(memory.random_program(12000 + seed, calls=seed % 2 == 1))


@pytest.mark.parametrize(("device", "seed"), each(GUARDS))
def test_indices_read_from_memory_stay_inside_and_agree(device, seed):
    with Context(DEVICE=device):
        guards.check(guards.random_program(13000 + seed))


@pytest.mark.parametrize("device", COMPILED)
def test_scatters_with_indices_narrower_than_the_value_agree(device):
    for case in narrow_scatters(3):
        scatter_agrees(case, device)
