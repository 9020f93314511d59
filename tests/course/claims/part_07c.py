"""Part 7c: what its last page claims."""

from __future__ import annotations

import tempfile

import numpy as np

from classroom.race import price, ready, work_of
from classroom.tiles import REGISTERS, count, planned
from tests.course.claims import claim
from tinyframe import Context, Device, GlobalCounters, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.search import beam as search
from tinyframe.search.beam import SearchResult

VECTOR = Opt(OptOps.VECTOR, 1, 8)
TILE = [Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 6)]
PANEL = [Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.STAGE, 0, 2)]


def operands(n: int = 40) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(7)
    a, b = (Tensor(rng.random((n, n), np.float32)).realize() for _ in range(2))
    return a, b


@claim(
    "Opts change the order of a kernel's work, and how often it fetches something, but not what "
    "it computes."
)
def opts_keep_the_values() -> None:
    a, b = operands()
    lists = ([], [VECTOR], [VECTOR, *TILE], [VECTOR, *TILE, *PANEL])
    kernels = [ready(a @ b, opts) for opts in lists]
    assert len({kernel.kernel.spec.src for kernel in kernels}) == len(lists)
    for kernel in kernels:
        kernel()
        np.testing.assert_allclose(kernel.values(), (a.numpy() @ b.numpy()).ravel(), rtol=1e-5)
    loads = [count(a @ b, opts).loads for opts in lists[:3]]
    assert loads == sorted(loads, reverse=True) and len(set(loads)) == 3


@claim(
    "A tile of h rows and w vectors takes h + w loads for h × w multiplications, as long as it "
    "fits into the registers."
)
def a_tile_loads_its_sides() -> None:
    a, b = operands(48)
    for h, w in ((6, 1), (6, 2), (3, 3)):
        tile = [Opt(OptOps.UPCAST, 1, w)] * (w > 1) + [Opt(OptOps.UPCAST, 0, h)]
        found = count(a @ b, [VECTOR, *tile])
        assert found.loads * h * w == found.multiplications * (h + w)
        assert found.registers == h * w + w + 1 <= REGISTERS


@claim("A panel puts side by side in memory what is read together.")
def a_panel_takes_fewer_pages() -> None:
    a, b = operands(512)
    scattered, tidy = (count(a @ b, [VECTOR, *TILE, *more]).pages for more in ([], PANEL))
    assert tidy < scattered / 20
    assert "panel" in get_program((a @ b).schedule()[0].ast, CStyleLanguage(), [
        VECTOR, *TILE, *PANEL
    ]).src  # fmt: skip


class Compiled(Observer):
    count = 0

    def compiled(self, *told: object) -> None:
        self.count += 1


@claim("A plan decides by looking, and BEAM by trying.")
def a_plan_compiles_and_runs_nothing() -> None:
    a, b = operands()
    seen, before = Compiled(), GlobalCounters.kernel_count
    with observing(seen):
        assert planned(a @ b).opts
    assert seen.count == 0 and GlobalCounters.kernel_count == before
    (item,) = (a[:8] * 3).schedule()
    with tempfile.TemporaryDirectory() as empty, Context(TINYFRAME_CACHE=empty, NOOPT=0):
        found = search.search_result(item.ast, Device["CPU"], 1)
    assert found is not None and found.tried > 1


@claim(
    "When a kernel has reached the slope of the roofline, no opt helps, only moving fewer bytes."
)
def no_opt_changes_what_has_to_be_moved() -> None:
    a, b = operands()
    x = a + b
    operations, nbytes = work_of(x)
    assert (operations, nbytes) == (40 * 40, 3 * 4 * 40 * 40)
    for opts in ([], [Opt(OptOps.VECTOR, 0, 8)], [Opt(OptOps.UPCAST, 0, 4)]):
        assert ready(x, opts).kernel.spec.mem_estimate == nbytes
    halved = a.half().realize() + b.half().realize()
    assert work_of(halved)[1] == nbytes / 2
    assert work_of((a + b).sum())[1] < nbytes  # fused into what comes next


@claim("A larger tile is a faster tile.")
def a_larger_tile_does_not_fit() -> None:
    a, b = operands(64)
    large = [Opt(OptOps.UPCAST, 1, 8), Opt(OptOps.UPCAST, 0, 8)]
    greedy, modest = (count(a @ b, [VECTOR, *tile]) for tile in (large, TILE))
    assert greedy.loads < modest.loads
    assert modest.registers <= REGISTERS < greedy.registers


@claim("BEAM searches each time.")
def a_search_is_kept() -> None:
    made = []
    search_for_real = search.search

    def counted(bench: search.Bench, width: int) -> SearchResult:
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


@claim("BEAM is always worth the wait.")
def a_search_that_gains_nothing_is_never_earned_back() -> None:
    nothing = SearchResult((), seconds=3e-3, planned=3e-3, tried=31, searched=9.0)
    assert "never" in price(nothing).svg()
    some = SearchResult((VECTOR,), seconds=1e-4, planned=5e-4, tried=40, searched=4.0)
    assert "10,000 runs" in price(some).svg()
