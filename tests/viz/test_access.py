"""What a kernel touches: against indices that are counted by hand, and against NumPy's own."""

from __future__ import annotations

import base64
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.chains import chains, numpy_of
from tests.viz.drawn import SVG, checked, said
from tinyframe import Context, Tensor
from tinyframe.codegen import scheduled_kernel
from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts
from tinyframe.device import Device
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz import access
from tinyframe.viz.kernels import kernels_of
from tinyframe.viz.touched import PANEL, Touch, arguments_of, shaded, touch_of


def touched(x: Tensor, opts=()) -> dict[tuple[int, str], list[int]]:
    """(argument, level) -> the elements."""
    (item,) = kernels_of(x, "access")
    renderer = Device[item.bufs[0].device].renderer
    sink = apply_opts(scheduled_kernel(item.ast, renderer), opts, renderer.target)
    return {(a.slot, t.level): t.cells.tolist() for a in arguments_of(sink) for t in a.touches}


def test_a_product_by_hand():
    """A tile of 2 rows and 4 columns of (6, 5) @ (5, 8)."""
    x = Tensor.empty(6, 5) @ Tensor.empty(5, 8)
    found = touched(x, [Opt(OptOps.VECTOR, 1, 4), Opt(OptOps.UPCAST, 0, 2)])
    assert found[0, "one iteration"] == [0]
    assert found[0, "one vector"] == [0, 1, 2, 3]
    assert found[0, "one register tile"] == [0, 1, 2, 3, 8, 9, 10, 11]
    assert found[1, "one register tile"] == [0, 5], "a column of A"
    assert found[2, "one register tile"] == [0, 1, 2, 3], "a row of B"
    assert found[1, "its whole reduce"] == list(range(10)), "two rows of A"
    assert found[2, "its whole reduce"] == [k * 8 + j for k in range(5) for j in range(4)]


def test_a_convolution_by_hand():
    x = Tensor.empty(2, 3, 6, 6).conv2d(Tensor.empty(4, 3, 3, 3))
    found = touched(x)
    window = [c * 36 + y * 6 + x for c in range(3) for y in range(3) for x in range(3)]
    assert found[1, "its whole reduce"] == window
    assert found[2, "its whole reduce"] == list(range(27))


def test_a_block_of_threads(blocks):
    x = Tensor.empty(8, 64, device="BLOCKS") + 1
    found = touched(x, [Opt(OptOps.LOCAL, 0, 16)])  # its two axes have become one
    assert found[0, "one thread block"] == list(range(16))
    picture = access(Tensor.empty(8, 64, device="BLOCKS") + 1, opts=[Opt(OptOps.LOCAL, 0, 16)])
    assert "one thread block: 16 of 512" in picture.text
    assert "one thread block" in said(checked(picture))


@given(chains())
def test_all_that_a_kernel_reads_is_what_numpys_views_show(u):
    places = numpy_of(u, np.arange(1, u.base.arg + 1))
    if places.any():
        assert all_touched(Tensor(u) * 2).cells.tolist() == sorted(set(places[places > 0] - 1))


def all_touched(x: Tensor) -> Touch:
    """All that the kernel of x touches of its first argument."""
    (item,) = kernels_of(x.contiguous(), "access")
    places = [u for u in item.ast.toposort() if u.op is Ops.INDEX and u.src[0].arg == 1]
    return touch_of(places, {r for place in places for r in place.ranges})


def test_what_depends_on_values_or_a_variable_is_said_in_words():
    table, rows = Tensor.empty(100, 8), Tensor([3, 1, 2]).realize()
    picture = access(table[rows])
    assert "depends on what is in memory" in picture.text
    assert "depends on what is in" in " ".join(said(checked(picture)))
    n = UOp.variable("n", 1, 64).bind(7)
    picture = access(Tensor.empty(64, 8)[:n].sum(axis=1))
    checked(picture)
    assert "depends on a Variable" in picture.text and "n" in picture.text


def test_too_much_to_play_is_said():
    assert "too many" in all_touched(Tensor.empty(1 << 12, 1 << 12) + 1).reason


@pytest.mark.parametrize("x", [
    lambda: Tensor.empty(512, 512) @ Tensor.empty(512, 512),
    lambda: Tensor.empty(8, 3, 32, 32).conv2d(Tensor.empty(16, 3, 3, 3)),
    lambda: Tensor.empty(3).sum(),
    lambda: Tensor.empty(1) + 1,
    lambda: Tensor.empty(2, 3, 4, 5, 6).permute(4, 3, 2, 1, 0).contiguous(),
    lambda: Tensor.empty(100000) * 2,
    lambda: sum((Tensor.empty(5) for _ in range(12)), Tensor.empty(5)),
    lambda: Tensor.empty(3000, 2).sum(axis=0),
])  # fmt: skip
def test_the_picture_is_on_the_page(x):
    picture = access(x())
    root = checked(picture)
    assert picture.headline.startswith(("what E", "what r"))
    assert "data0 writes" in said(root)


def test_without_opts_there_is_no_vector():
    with Context(NOOPT=1):
        picture = access(Tensor.empty(16, 16) + 1)
    assert "one vector" not in picture.text and "one iteration: 1 of 256" in picture.text


@given(st.lists(st.integers(1, 6), max_size=5), st.data())
def test_an_image_shows_each_element_once(shape, data):
    size = int(np.prod(shape))
    cells = np.array(sorted(data.draw(st.sets(st.integers(0, size - 1)))), int)
    image = shaded(shape, [np.arange(size), cells], PANEL)
    assert (image == 3).sum() == len(cells) and (image >= 2).sum() == size
    if len(shape) == 2:
        assert (image == 3).ravel().nonzero()[0].tolist() == cells.tolist()


def test_matrices_of_four_axes_stand_in_rows_with_lines_between():
    image = shaded((2, 3, 4, 5), [np.array([0, 1, 20, 119])], PANEL)
    assert image.shape == (9, 17)
    assert np.argwhere(image == 3).tolist() == [[0, 0], [0, 1], [0, 6], [8, 16]]
    assert (image[4] == 1).all() and (image[:, 5] == 1).all()


def test_one_touched_element_of_many_can_still_be_seen():
    root = checked(access(Tensor.empty(2000, 2000) @ Tensor.empty(2000, 2000)))
    images = list(root.iter(f"{SVG}image"))
    assert len(images) >= 12
    for image in images:
        data = base64.b64decode(image.attrib["href"].partition(",")[2])
        pixels = plt.imread(io.BytesIO(data))  # matplotlib reads what was written without it
        assert max(pixels.shape) <= PANEL and len(np.unique(pixels[..., 0])) >= 2
