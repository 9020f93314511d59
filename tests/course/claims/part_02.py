"""Part 2's last page."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile

import numpy as np
import pytest

from classroom.sabotage import sabotage
from tests.course.claims import claim
from tinyframe import Context, GlobalCounters, Tensor, TinyJit
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Device
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.spec import SpecError
from tinyframe.run import search
from tinyframe.runtime.python import OutOfBounds
from tinyframe.settings import settings
from tinyframe.uop import Ops
from tinyframe.viz import graph, kernel


def bills(device: str = "CPU") -> Tensor:
    quantities = Tensor([[2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 5.0, 0.0], [1.0] * 4], device=device)
    prices = Tensor([0.5, 2.25, 1.0, 4.0], device=device).realize()
    return (quantities.realize() * prices).sum(axis=1)


@claim("DEBUG=1 counts the kernels, 2 has a line for each, 3 adds their C, and 4 adds every stage.")
def each_level_adds_what_it_says() -> None:
    def shown(level: int) -> str:
        lazy = bills()
        out = io.StringIO()
        with contextlib.redirect_stdout(out), Context(DEBUG=level, NOOPT=1, NO_COLOR="1"):
            lazy.realize()
        return out.getvalue()

    one, two, three, four = (shown(level) for level in (1, 2, 3, 4))
    # n1, n2, … where a test before had kernels of these sizes
    count, line = r"^1 kernel, .* ms$", r"^CPU +r_3_4(?:n\d+)? +3 <- 3x4, 4 "
    code, stage = r"^void r_3_4(?:n\d+)?\(", r"^───── linearize ─"
    for text, has in ((one, 1), (two, 2), (three, 3), (four, 4)):
        found = [bool(re.search(what, text, re.MULTILINE)) for what in (count, line, code, stage)]
        assert found == [True] * has + [False] * (4 - has)


@claim("A kernel's name tells you its loops, the outer one first.")
def names_follow_loops() -> None:
    table = Tensor.zeros(3, 7).contiguous().realize()
    for tensor, sizes in ((bills(), "3_4"), (table.sum(axis=0), "7_3"), (table.T + 1, "7_3")):
        (item,) = tensor.contiguous().schedule()
        with Context(NOOPT=1):
            program = get_program(item.ast, CStyleLanguage())
        assert re.sub(r"n\d+$", "", program.function)[2:] == sizes  # n1: a second of these sizes
        assert "_".join(re.findall(r"< (\d+);", program.src)) == sizes


@claim("SPEC=1 names the stage that broke a graph, before any C is written.")
def spec_names_the_stage() -> None:
    written = []

    class Watched(CStyleLanguage):
        def render(self, name, uops):
            written.append(name)
            return super().render(name, uops)

    (item,) = bills().schedule()
    with sabotage(name="the culprit"):
        with Context(SPEC=1), pytest.raises(SpecError, match="after the stage 'the culprit'"):
            get_program(item.ast, Watched())
        assert written == []
        with Context(SPEC=0):
            get_program(item.ast, Watched())
        assert len(written) == 1


@claim("Opts change how a kernel's loops run, and not what it computes.")
def opts_keep_the_values() -> None:
    a, b = (np.random.default_rng(n).random((40, 40), np.float32) for n in range(2))
    x, y = Tensor(a).realize(), Tensor(b).realize()
    (item,) = (x @ y).schedule()
    opts = [Opt(OptOps.VECTOR, 1, 4), Opt(OptOps.UPCAST, 0, 2)]
    sources = {get_program(item.ast, CStyleLanguage(), o).src for o in ([], opts)}
    assert len(sources) == 2
    for noopt in (0, 1):
        with Context(NOOPT=noopt):
            np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=1e-5)


@claim("The PYTHON device runs the same kernels and checks each read and write.")
def python_checks_every_access() -> None:
    assert bills("PYTHON").tolist() == bills("CPU").tolist() == [14.0, 7.25, 7.75]
    x = Tensor([1.0, 2.0, 3.0], device="PYTHON").realize()

    def one_further(sink):
        places = [u for u in sink.toposort() if u.op is Ops.LOAD]
        return sink.substitute({
            u: u.replace(src=(u.src[0].replace(src=(*u.src[0].src[:2], u.src[0].src[2] + 1)),))
            for u in places
        })  # fmt: skip

    with sabotage(one_further), Context(SPEC=0), pytest.raises(OutOfBounds):
        (x * 2).realize()


@claim("If the compiler makes a mistake, there is an error.")
def mistakes_can_go_unseen() -> None:
    with sabotage(), Context(SPEC=0):
        assert bills().tolist() == [13.0, 7.0, 7.0]


@claim("To see a kernel, I have to run it.")
def pictures_run_nothing() -> None:
    lazy = bills()
    before = GlobalCounters.kernel_count
    assert "void r_" in kernel(lazy).text
    assert "MUL" in graph(lazy).text
    assert GlobalCounters.kernel_count == before


@claim("BEAM searches each time.")
def a_search_is_kept() -> None:
    made = []
    search_for_real = search.search

    def counted(bench, width):
        made.append(width)
        return search_for_real(bench, width)

    search.search = counted
    try:
        (item,) = (Tensor.ones(8, 8).contiguous().realize() * 3).schedule()
        with tempfile.TemporaryDirectory() as empty, Context(TINYFRAME_CACHE=empty):
            for _ in range(2):
                search.best_opts(item.ast, Device["CPU"], 1)
    finally:
        search.search = search_for_real
    assert made == [1]


@claim("A function under TinyJit runs in Python each time I call it.")
def the_body_runs_twice() -> None:
    runs = []

    @TinyJit
    def step(x):
        runs.append(1)
        return (x + 1).realize()

    x = Tensor([1.0]).realize()
    assert [step(x).item() for _ in range(6)] == [2.0] * 6
    assert len(runs) == 2


@claim("Settings have to be made before tinyframe is imported.")
def settings_are_read_when_needed() -> None:
    before = os.environ.get("DEBUG")
    try:
        for level in (2, 3, 0):
            os.environ["DEBUG"] = str(level)
            assert settings.DEBUG == level
            with Context(DEBUG=1):
                assert settings.DEBUG == 1
    finally:
        os.environ.pop("DEBUG")
        if before is not None:
            os.environ["DEBUG"] = before
