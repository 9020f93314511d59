"""A kernel's picture: its loops, their sizes and work, as the source has them."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import boxes, checked, said
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.device import Device
from tinyframe.uop.node import AxisType, Ops, UOp
from tinyframe.viz import kernel
from tinyframe.viz.kernels import kernels_of
from tinyframe.viz.nests import (
    AXES,
    OPTS,
    Part,
    changed_places,
    fitting,
    opt_text,
    parts_of,
    reuse,
    shortened,
    work_text,
)


def product(m: int = 64, k: int = 48, n: int = 80) -> Tensor:
    return Tensor.empty(m, k) @ Tensor.empty(k, n)


def program_of(x: Tensor, opts: list[Opt] | None = None):
    (item,) = kernels_of(x, "kernel")
    return get_program(item.ast, Device[Device.DEFAULT].renderer, opts)


def counted(parts: list[Part], what: str) -> int:
    """How often an op runs in all, by running through the loops."""
    return sum(
        math.prod(r.vmax + 1 for r in around) * times * lanes
        for around, part in parts
        if not isinstance(part, UOp)
        for (op, lanes), times in part.items()
        if op.startswith(what)
    )


@given(st.integers(1, 40), st.integers(2, 40), st.integers(1, 40))
def test_a_product_as_written_has_its_loops_and_its_work(m, k, n):
    with Context(NOOPT=1):
        tree = parts_of(program_of(product(m, k, n)))
        picture = kernel(product(m, k, n))
    assert counted(tree, "MUL") == counted(tree, "ADD") == m * k * n
    assert counted(tree, "load") == 2 * m * k * n and counted(tree, "store") == m * n
    assert reuse(tree) == 1
    sizes = [int(size) for size in re.findall(r"(\d+) × (?:reducing )?loop", picture.text)]
    assert math.prod(sizes) == m * k * n
    assert "No plan" in picture.text
    checked(picture)


def test_no_operation_is_lost_or_repeated_by_tiling():
    plain = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 4)]
    tree = parts_of(program_of(product(), plain))
    assert counted(tree, "MUL") == 64 * 48 * 80
    # a tile of 4 rows and 16 columns: 4 + 16 elements for each step of the sum
    assert counted(tree, "load") == 64 * 48 * 80 * (4 + 16) // (4 * 16)
    assert reuse(tree) == pytest.approx(2 * 4 * 16 / (4 + 16))


def test_every_loop_of_the_source_has_a_box_and_a_number_beside_its_line():
    picture = kernel(product(512, 512, 512))
    root = checked(picture)
    fors = len(re.findall(r"^ *for ", picture.text, re.MULTILINE))
    assert fors >= 4
    for number in range(1, fors + 1):
        assert said(root).count(str(number)) == 2, "in its box, and beside the source"
    plan = program_of(product(512, 512, 512)).plan
    reason = f"Plan: {plan.name}, because {plan.why}."
    assert reason in " ".join(said(root)) and reason in picture.text
    fills = {box.fill for box in boxes(root) if " × " in box.title}
    assert fills <= {axis.fill for axis in AXES.values()} and len(fills) >= 3


def test_opt_by_opt_shows_each_step_and_what_it_saves():
    x = product(512, 512, 512)
    opts = program_of(product(512, 512, 512)).opts
    picture = kernel(x, every=True)
    root = checked(picture, height=2000)  # asked for
    for number, opt in enumerate(opts, 1):
        assert f"{number}. {opt_text(opt)}" in " ".join(said(root))
    each = [float(f) for f in re.findall(r"per element from memory: ([\d.]+)", picture.text)]
    assert len(each) == len(opts) + 1
    assert each[0] == 1 and max(each) > 8, "tiling is for reuse"


def test_opt_by_opt_shows_what_one_tile_touches():
    opts = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 4)]
    picture = kernel(product(), opts=opts, every=True)
    checked(picture, height=2000)
    assert "With the Opts that were given." in picture.text and "16 × lanes" in picture.text
    with pytest.raises(KernelOptError):
        kernel(product(), opts=[Opt(OptOps.VECTOR, 7, 16)])
    tiles = re.findall(r"one tile of data(\d): (?:reads|writes) (\d+)", picture.text)
    assert tiles == [("0", "1"), ("1", "1"), ("2", "1"),
                     ("0", "16"), ("1", "1"), ("2", "16"),
                     ("0", "64"), ("1", "4"), ("2", "16")]  # fmt: skip


@pytest.mark.parametrize("x", [
    lambda: Tensor.empty(100, 8)[Tensor([1, 2]).realize()],
    lambda: Tensor.empty(3, 5).sum(axis=1),
    lambda: Tensor.empty(1) + 1,
    lambda: sum((Tensor.empty(5) for _ in range(6)), Tensor.empty(5)),
    lambda: Tensor.empty(64, 8)[: UOp.variable("n", 1, 64).bind(7)].sum(axis=1),
    lambda: Tensor.empty(2, 3, 8, 8).conv2d(Tensor.empty(4, 3, 3, 3)).relu(),
])  # fmt: skip
def test_opt_by_opt_of_any_kernel(x):
    picture = kernel(x(), every=True)
    checked(picture, height=2000)
    assert ("n × " in picture.text) == bool(x().schedule()[0].ast.variables())


def test_every_kind_of_opt_can_be_said():
    assert set(OPTS) == set(OptOps)
    assert opt_text(Opt(OptOps.VECTOR, 1, 16)) == "VECTOR(1, 16): 16 of axis 1 in one vector"
    assert "0, 2, 1" in opt_text(Opt(OptOps.REORDER, (0, 2, 1)))
    assert "data0" in opt_text(Opt(OptOps.STAGE, 1, 0))
    assert "all turns of" in opt_text(Opt(OptOps.UNROLL, 1, 0))


@given(st.lists(st.integers(0, 5), max_size=8, unique=True), st.integers(0, 8))
def test_what_was_put_in_is_what_changed(before, place):
    place = min(place, len(before))
    after = [*before[:place], 99, *before[place:]]
    assert changed_places(before, after) == {place}
    assert changed_places(before, before) == set()


def test_which_kernel():
    x = Tensor.empty(32, 32)
    y = ((x @ x).softmax() @ x).contiguous()
    count = len(kernels_of(y, "kernel"))
    assert count > 1
    texts = [kernel(y, number=n).headline for n in range(1, count + 1)]
    assert all(t.endswith(f", kernel {n} of {count}") for n, t in enumerate(texts, 1))
    assert kernel(y).headline in texts
    for number in (0, count + 1, -1):
        with pytest.raises(ValueError, match=f"there are {count} kernels"):
            kernel(y, number=number)
    with pytest.raises(TypeError, match="number"):
        kernel(y, number="first")


def test_a_sink_and_a_schedule_item_are_kernels_and_nothing_to_run_is_an_error():
    (item,) = kernels_of(product(), "kernel")
    texts = {kernel(x).text for x in (item, item.ast, [item], product())}
    assert len(texts) == 1
    for nothing in (Tensor.empty(3), []):
        with pytest.raises(ValueError, match="Nothing has to run"):
            kernel(nothing)
    with pytest.raises(TypeError, match="SINK"):
        kernel(Tensor.empty(3).uop)
    with pytest.raises(TypeError, match="Tensor and int"):
        kernel([Tensor.empty(3) + 1, 2])


def test_blocks_and_threads_of_a_gpu(blocks):
    x = Tensor.empty(64, 64, device="BLOCKS").sum(axis=1)
    picture = kernel(x, opts=[Opt(OptOps.LOCAL, 0, 16), Opt(OptOps.GLOBAL, 0)])
    checked(picture)
    assert "1. LOCAL(0, 16): 16 of axis 0 at once, by the threads of a block" in picture.text
    assert {"4 × blocks", "16 × threads", "64 × reducing loop"} <= set(said(checked(picture)))


def test_a_kernel_too_long_for_a_screen_says_what_is_left_out():
    x = Tensor.empty(7).exp2()
    for _ in range(40):
        x = (x * 1.5 + 0.5).sin()
    picture = kernel(x)
    assert "lines more" in " ".join(said(checked(picture)))


def test_runs_of_statements_are_shortened_and_counted():
    lines = ["void f() {", *[f"  a{k} = {k};" for k in range(100)], "  for (;;) {", "  }", "}"]
    assert fitting(lines, 400, 9) == [
        *lines[:5], "  // and 96 lines more", "  for (;;) {", "  }", "}"
    ]  # fmt: skip
    unsaved = list(shortened(lines[:4] + ["}"], 2))
    assert unsaved[-2:] == [([3], False), ([4], False)], "no line saved"
    assert list(shortened(lines, 1, [50]))[1:4] == [
        ([1], False), ([*range(2, 50)], True), ([50], False)
    ]  # fmt: skip
    loops = [f"for (int i{k} = 0;;) {{" for k in range(300)]
    shown = fitting(loops, 400, 52)
    assert len(shown) == 52 and "249 lines more" in shown[-1]


def test_work_in_words():
    work = {("load", 1): 1, ("load", 16): 2, ("MUL", 16): 1, ("store to a panel", 4): 1}
    assert work_text(work) == "1 load, 2 loads of 16, 1 MUL of 16, 1 store of 4 to a panel"


def test_every_kind_of_axis_is_drawn_in_a_colour_of_its_meaning():
    assert set(AXES) == set(AxisType)
    fills = {(kind.color, axis.fill) for kind, axis in AXES.items()}
    assert len(fills) == len({color for color, _ in fills}), "as in kernels' names"
    assert len({axis.name for axis in AXES.values()}) == len(AXES), "colours alone do not tell"


def test_data_that_only_moves_has_no_arithmetic():
    tree = parts_of(program_of(Tensor.empty(4, 8).permute(1, 0).contiguous()))
    assert reuse(tree) == 0
    assert counted(tree, "load") == counted(tree, "store") == 32
    fill = parts_of(program_of(Tensor.full((5,), 2.0).contiguous()))
    assert reuse(fill) == math.inf
    assert Ops.STORE.name.lower() in str(fill)
