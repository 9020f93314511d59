"""Kernels as boxes: each holds what the scheduler fuses, and drawing changes nothing."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tests.viz.drawn import SVG
from tinyframe import Context, GlobalCounters, Tensor, Variable
from tinyframe.device import buffer_of
from tinyframe.viz import graph
from tinyframe.viz.words import sentence

pytestmark = pytest.mark.usefixtures("no_dot")


def empty(*shape: int) -> Tensor:
    return Tensor.empty(*shape)


CASES = {
    "elementwise": lambda: (empty(4, 8) + 1).exp(),
    "softmax": lambda: empty(64, 8).softmax(),
    "divided by its sum": lambda: (x := empty(64, 8)) / x.sum(),
    "matmul": lambda: empty(8, 16) @ empty(16, 4),
    "attention": lambda: (q := empty(2, 8, 4)).scaled_dot_product_attention(q, q),
    "conv": lambda: empty(1, 2, 8, 8).conv2d(empty(3, 2, 3, 3)).relu(),
    "long sum": lambda: empty(1 << 22).sum(),
    "a view of a sum": lambda: empty(64, 8).sum(axis=1).reshape(8, 8).T,
    "chain": lambda: [x := empty(4)] and [x := x.sin() for _ in range(50)][-1],
    "random": lambda: Tensor.rand(5),
    "int": lambda: Tensor.empty(5, dtype="int") // 3,
    "nothing": lambda: empty(0, 3) + 1,
    "a size that is known later": lambda: empty(10, 4)[: Variable("n", 1, 10).bind(3)].sum(axis=1),
    "very long": lambda: [x := empty(4, 8)] and [x := x.sin() for _ in range(5000)][-1],
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_there_is_a_box_for_each_kernel_of_the_schedule_with_its_sentence(make, capsys):
    x = make()
    with Context(DEBUG=4):
        folded = graph(x, kernels=True)
        assert len(folded.nodes) <= 60 and folded.svg()
    assert capsys.readouterr().out == ""
    if len(x.uop.toposort()) > 1000:
        return
    picture = graph(x, kernels=True, fold=False)
    boxes = list(dict.fromkeys(node.box for node in picture.nodes if node.box))
    items = x.schedule()
    said = [part for box in boxes for part in box.words.split("; then ")]
    expected = [part for item in items for part in sentence(item.ast).split("; then ")]
    assert sorted(said) == sorted(expected)
    numbers = [w for box in boxes for w in box.heading.split() if w.isdigit()]
    assert numbers == [str(n) for n in range(1, len(items) + 1)]
    for number, node in enumerate(picture.nodes):
        for s in node.sources:
            assert s < number
            source = picture.nodes[s]
            if source.box and node.box:
                assert source.box.number <= node.box.number
                if source.box != node.box:
                    assert "stored" in source.note, "what leaves a kernel goes through memory"
    assert ElementTree.fromstring(picture.svg()).get("role") == "img"


def test_drawing_changes_neither_a_tensor_nor_what_it_computes():
    values = np.arange(32, dtype=np.float32).reshape(4, 8) / 7
    x = Tensor(values).realize()
    y = (x / x.sum()).exp()
    x_before, y_before = x.uop, y.uop
    ran, used = GlobalCounters.kernel_count, GlobalCounters.mem_used
    for _ in range(2):
        assert graph(y, kernels=True).svg()
    assert (x.uop, y.uop) == (x_before, y_before)
    assert (GlobalCounters.kernel_count, GlobalCounters.mem_used) == (ran, used)
    assert len(y.schedule()) == 2


def test_a_change_in_place_is_drawn_and_not_made():
    x = Tensor([1.0, 2.0, 3.0]).realize()
    old = x * 10
    x.assign(x + 1)
    picture = graph(x, kernels=True)
    assert "ASSIGN" in picture.text and "kernel 2" in picture.text, "readers of the old are first"
    assert old.tolist() == [10.0, 20.0, 30.0]
    assert x.tolist() == [2.0, 3.0, 4.0]


def test_what_is_in_memory_already_has_no_kernel():
    x = Tensor([1.0, 2.0]).realize()
    text = "graph of 1 node: 1 memory\n  %0  x = BUFFER 0  (2,) float    on CPU"
    assert graph(x, kernels=True).text == text
    assert buffer_of(x.uop.base).is_allocated()


def test_what_is_cut_into_kernels_already_is_not_asked_about_again():
    items = empty(4).exp().schedule()
    for x in (items, items[0], items[0].ast, empty(4).exp().kernelize()):
        with pytest.raises(ValueError, match="not cut into kernels yet"):
            graph(x, kernels=True)


def test_several_results_share_their_kernels():
    x = empty(64, 8)
    total = x.sum()
    picture = graph([x / total, x * total], kernels=True)
    assert picture.text.count("sums all 512 numbers") == 1


def test_the_learners_names_are_on_inputs_and_results():
    a, b = empty(8, 16), empty(16, 4)
    y = (a @ b).relu()
    picture = graph(y, kernels=True)
    names = {name for node in picture.nodes for name in node.names}
    assert names == {"a", "b", "y"}
    inputs = [node for node in picture.nodes if set(node.names) & {"a", "b"}]
    assert [node.box for node in inputs] == [None, None], "memory is in no kernel"


def test_every_heading_stands_inside_its_frame():
    root = ElementTree.fromstring(graph((x := empty(64, 8)) / x.sum(), kernels=True).svg())
    headings = [g for g in root.iter(f"{SVG}g") if g.get("class") == "heading"]
    assert len(headings) == 2
    for heading in headings:
        (bar,) = heading.iter(f"{SVG}rect")
        top, high = float(bar.attrib["y"]), float(bar.attrib["height"])
        for text in heading.iter(f"{SVG}text"):
            assert top < float(text.attrib["y"]) < top + high
