"""Where NVIDIA's compiler is, it gets each kernel that a file of tests here compiles."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

if importlib.util.find_spec("cuda"):
    from tests.nvrtc_suite import asked_for, compile_all

    @pytest.fixture(scope="module", autouse=True)
    def nvidia_takes_the_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
        with asked_for() as kernels:
            yield
        compile_all(list(kernels), request.node.nodeid)
