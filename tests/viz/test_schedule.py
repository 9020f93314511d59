"""A schedule's picture: kernels in running order, and the buffers that each reads and writes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import Tensor
from tinyframe.device import human_bytes
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz import schedule
from tinyframe.viz.schedules import MOST_LANES, Row, lanes_of


def attention() -> Tensor:
    a, b, c = (Tensor.empty(64, 64) for _ in range(3))
    return (a @ b).softmax() @ c


def test_kernels_and_buffers_in_order():
    picture = schedule(attention())
    assert picture.headline == "schedule of 3 kernels, 6 buffers"
    shown = charted(picture)
    marks = [w for w in shown if w[0] in "rw" and w[1:].isdigit()]
    assert marks == ["r0", "r1", "w2", "r2", "w3", "r3", "r4", "w5"]
    assert "reads 0 (16.38 kB), 1 (16.38 kB)" in picture.text
    assert [line[0] for line in picture.text.splitlines() if line[0].isdigit()] == ["1", "2", "3"]


def test_what_is_written_in_place_is_read_and_written():
    x = Tensor.zeros(100).contiguous().realize()
    x.assign(x + 1)
    shown = charted(schedule(x))
    assert "rw0" in shown


def test_items_are_drawn_as_their_tensor_is():
    text = schedule(attention()).text
    items = attention().schedule()
    assert schedule(items).text == text
    assert schedule(items[0]).headline == "schedule of 1 kernel, 3 buffers"
    assert schedule(tuple(items)).text == text


def test_each_item_reads_and_writes_what_its_kernel_does():
    """Against the STOREs and LOADs of the kernels themselves."""
    x = Tensor.empty(16, 16)
    y = (x @ x).softmax().relu() @ x
    items = y.schedule()
    numbers: dict = {}
    lines = [line.strip() for line in schedule(items).text.splitlines()]
    for item in items:
        reads = {u.src[0].src[0].arg for u in item.ast.toposort() if u.op is Ops.LOAD}
        for slot in sorted(reads):
            numbers.setdefault(item.bufs[slot], len(numbers))
        for store in item.ast.src:
            numbers.setdefault(item.bufs[store.src[0].src[0].arg], len(numbers))
        bufs = [item.bufs[slot] for slot in sorted(reads)]
        words = ", ".join(f"{numbers[b]} ({human_bytes(b.size * 4)})" for b in bufs)
        assert f"reads {words}" in lines


def test_several_tensors_share_a_schedule():
    x = Tensor.empty(64)
    assert schedule([x + 1, (x + 1).sum()]).headline.startswith("schedule of ")
    assert "Nothing has to run" in schedule([]).text
    picture = schedule(Tensor.empty(3))
    charted(picture)
    assert picture.headline == "schedule of 0 kernels, 0 buffers"


def test_a_copy_and_a_symbolic_size_are_told():
    picture = schedule(Tensor.empty(10).to("PYTHON") + 1)
    charted(picture)
    assert "1. copies 10 numbers to PYTHON" in picture.text and "reads 0 (40 B)" in picture.text
    n = UOp.variable("n", 1, 64).bind(7)
    picture = schedule(Tensor.empty(64, 8)[:n].sum(axis=1))
    charted(picture)
    assert "loops: n" in picture.text


@pytest.mark.parametrize("layers", [3, 12, 60])
def test_any_length_fits_a_screen(layers):
    y = Tensor.empty(32, 100)
    for _ in range(layers):
        y = (y @ Tensor.empty(100, 100)).relu().layernorm()
    picture = schedule(y)
    words = charted(picture)
    count = int(picture.headline.split()[2])
    shown = [w for w in words if re.match(r"\d+\. ", w)]
    left_out = [w for w in words if w.startswith("and ") and w.endswith("all")]
    assert len(shown) == count or f"and {count - len(shown)} kernels more" in left_out[0]
    assert f"{count}. " in picture.text


def test_a_training_step_fits_a_screen():
    weights = [Tensor.ones(64, 64).contiguous().realize().requires_grad_() for _ in range(8)]
    h = Tensor.empty(16, 64)
    for w in weights:
        h = (h @ w).relu()
    h.sum().backward()
    charted(schedule([w.grad for w in weights]))


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 9), max_size=4), st.sets(st.integers(0, 9))), max_size=12
    )
)
def test_no_two_buffers_share_a_line_while_both_live(steps):
    rows = [Row("", "", tuple(sorted(r)), tuple(sorted(w))) for r, w in steps]
    lanes = lanes_of(rows, MOST_LANES)
    spans = {
        b: [n for n, row in enumerate(rows) if b in row.touches]
        for row in rows
        for b in row.touches
    }
    assert set(lanes) <= set(spans) and all(0 <= lane < MOST_LANES for lane in lanes.values())
    assert len(lanes) == min(len(spans), len(lanes)) and (
        len(spans) > MOST_LANES or lanes.keys() == spans.keys()
    )
    for a in lanes:
        for b in lanes:
            if a < b and lanes[a] == lanes[b]:
                assert spans[a][-1] < spans[b][0] or spans[b][-1] < spans[a][0]
    crowded = lanes_of([Row("", "", tuple(range(50)), ())], 3)
    assert len(crowded) == 3
