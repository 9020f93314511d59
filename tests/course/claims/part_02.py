"""Part 2's last page."""

from __future__ import annotations

import contextlib
import io
import os
import re

import pytest

from classroom.sabotage import sabotage
from tests.course.claims import claim
from tinyframe import Context, GlobalCounters, Tensor, TinyJit
from tinyframe.codegen import get_program
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.spec import SpecError
from tinyframe.runtime.python import OutOfBounds
from tinyframe.settings import settings
from tinyframe.uop import Ops
from tinyframe.viz import graph, kernel


def bills(device: str = "CPU") -> Tensor:
    quantities = Tensor([[2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 5.0, 0.0], [1.0] * 4], device=device)
    prices = Tensor([0.5, 2.25, 1.0, 4.0], device=device).realize()
    return (quantities.realize() * prices).sum(axis=1)


@claim(
    "DEBUG=1 counts the kernels, 2 has a line for each, 3 adds their C, and 4 adds what each stage "
    "changed."
)
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


@claim("If two devices agree, the result is right.")
def devices_share_the_mistakes_of_the_stages() -> None:
    with sabotage(), Context(SPEC=0):
        assert bills("CPU").tolist() == bills("PYTHON").tolist() != [14.0, 7.25, 7.75]


@claim("To see a kernel, I have to run it.")
def pictures_run_nothing() -> None:
    lazy = bills()
    before = GlobalCounters.kernel_count
    assert "void r_" in kernel(lazy).text
    assert "MUL" in graph(lazy).text
    assert GlobalCounters.kernel_count == before


class Launched(Observer):
    """Name and seconds of every kernel that ran."""

    def __init__(self) -> None:
        self.kernels: list[tuple[str, float]] = []

    def ran(self, work) -> None:
        if work.spec is not None:
            self.kernels.append((work.spec.name, work.seconds))


@claim("GlobalCounters counts kernels, operations and bytes until you reset it.")
def counters_go_on_until_they_are_reset() -> None:
    GlobalCounters.reset()
    for times in (1, 2, 3):
        bills().realize()
        # 12 products and 12 sums; 12 + 4 numbers read and 3 written
        assert GlobalCounters.kernel_count == times
        assert GlobalCounters.global_ops == 24 * times
        assert GlobalCounters.global_mem == 4 * (12 + 4 + 3) * times
    GlobalCounters.reset()
    assert (
        GlobalCounters.kernel_count == GlobalCounters.global_ops == GlobalCounters.global_mem == 0
    )


@claim("An Observer is told the name and the time of each kernel.")
def observers_are_told_of_each_kernel() -> None:
    watching = Launched()
    with observing(watching):
        bills().realize()
        bills().sum().realize()
    GlobalCounters.reset()
    bills().realize()
    bills().sum().realize()
    assert len(watching.kernels) == GlobalCounters.kernel_count == 2
    assert all(name[:2] == "r_" and seconds > 0 for name, seconds in watching.kernels)


@claim("A replay launches the recorded kernels and runs none of your Python.")
def replays_run_no_python() -> None:
    runs = []

    @TinyJit
    def step(x):
        runs.append(1)
        return (x + 1).realize()

    x = Tensor([1.0]).realize()
    step(x), step(x)
    for _ in range(3):
        del runs[:]
        GlobalCounters.reset()
        assert step(x).item() == 2.0
        assert runs == [] and GlobalCounters.kernel_count == 1


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


@claim("TinyJit makes the kernels faster.")
def a_replay_launches_the_same_kernels() -> None:
    weights = [Tensor.ones(4, 4).contiguous().realize() for _ in range(3)]

    def step(x):
        for w in weights:
            x = (x @ w).softmax(axis=1)
        return x.realize()

    fast, x, names = TinyJit(step), Tensor.ones(4, 4).contiguous().realize(), []
    for _ in range(4):
        watching = Launched()
        with observing(watching):
            fast(x)
        names.append([name for name, _ in watching.kernels])
    assert names[0] and names[1:] == [names[0]] * 3


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
