"""Large graphs fit a screen: what repeats is drawn once with a count, nothing is cut off."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from tinyframe import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz import graph, layout
from tinyframe.viz.fit import SCREEN, extent_of
from tinyframe.viz.label import lines_of, wrapped
from tinyframe.viz.nodes import Node, of_graph
from tinyframe.viz.repeats import longest_run, repeated, side_by_side, without

SVG = "{http://www.w3.org/2000/svg}"


pytestmark = pytest.mark.usefixtures("no_dot")


def matrix() -> Tensor:
    return Tensor.empty(4, 8)


def layers(count: int) -> Tensor:
    x = Tensor.empty(8, 8)
    for _ in range(count):
        x = (x @ Tensor.empty(8, 8) + Tensor.empty(8)).relu()
    return x


def added(count: int) -> Tensor:
    x, y = matrix(), matrix()
    for _ in range(count):
        x = x + y
    return x


def grid(side: int) -> UOp:
    row = [matrix().uop] * side
    for _ in range(side):
        new = [row[0] + row[1]]
        for above in row[1:]:
            new.append(above * new[-1] + above)
        row = new
    return row[-1]


def noise(count: int, seed: int) -> UOp:
    chance, u, other = random.Random(seed), matrix().uop, matrix().uop
    known = [u, other]
    for _ in range(count):
        x, y = chance.choice(known[-9:]), chance.choice(known[-30:])
        known.append(
            chance.choice([x.sin, x.exp2, lambda x=x, y=y: x + y, lambda x=x, y=y: x * y])()
        )
    return known[-1]


LARGE = {
    "chain": lambda: added(10_000),
    "wide sum": lambda: sum([matrix() for _ in range(3000)], start=matrix()),
    "layers": lambda: layers(400),
    "grid": lambda: grid(70),
    "noise": lambda: noise(10_000, 0),
    "many results": lambda: [matrix().exp() for _ in range(2500)],
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_10000_nodes_become_a_picture_that_fits_a_screen_and_counts_them_all(make):
    x = make()
    roots = x if isinstance(x, list) else [x]
    everything = of_graph([r.uop if isinstance(r, Tensor) else r for r in roots])
    picture = graph(x)
    assert len(picture.nodes) <= 60
    assert sum(node.count for node in picture.nodes) == len(everything) > 5000
    root = ElementTree.fromstring(picture.svg())
    assert float(root.attrib["height"].removesuffix("pt")) <= SCREEN
    assert_sources_come_first(picture.nodes)


def assert_sources_come_first(nodes: list[Node]) -> None:
    for number, node in enumerate(nodes):
        assert all(s < number for s in node.sources), "so there is no ring"


@pytest.mark.parametrize("count", [20, 40, 300])
def test_layers_are_drawn_once_with_how_many_there_are(count):
    picture = graph(layers(count), limit=30)
    (box,) = {node.box for node in picture.nodes if node.box}
    assert box.heading == f"× {count}"
    assert box.words == f"{count} times, each on what the one before gives"
    inside = Counter(node.title for node in picture.nodes if node.box)
    assert inside["REDUCE_AXIS ADD"] == 1
    assert inside[f"{count} BUFFERs"] == 2
    assert f"  × {count}: " in picture.text


@pytest.mark.parametrize("count", [100, 500])
def test_a_chain_of_adds_is_one_node_with_a_count(count):
    picture = graph(added(count))
    assert [n.title for n in picture.nodes] == [
        "BUFFER 0", "RESHAPE", "BUFFER 1", "RESHAPE", f"ADD × {count}",
    ]  # fmt: skip
    assert picture.nodes[-1].sources == (1, 3)


def test_names_in_a_repeated_layer_are_the_first_and_the_last():
    weights = {f"w{n}": Tensor.empty(8, 8) for n in range(12)}
    x = Tensor.empty(8, 8)
    for w in weights.values():
        x = (x @ w).exp2().sin().cos().sqrt()
    picture = graph(x, limit=20, **weights)
    named = [node for node in picture.nodes if node.names]
    assert [node.names for node in named] == [("w0 to w11",)]
    assert "w0 to w11 = RESHAPE" in picture.text


def test_what_is_alike_but_not_in_a_row_is_put_side_by_side():
    parts = [matrix().sum(axis=n % 2, keepdim=True).sum() for n in range(6)]
    drawn = side_by_side(of_graph([Tensor.stack(*parts).uop]))
    assert sum(node.count for node in drawn) == len(of_graph([Tensor.stack(*parts).uop]))
    assert_sources_come_first(drawn)


@pytest.mark.parametrize("seed", range(20))
def test_folding_a_run_keeps_every_arrow_between_what_stands_for_the_ends(seed):
    """Against a direct reading: node n stands for itself, or for the first one like it."""
    chance = random.Random(seed)
    u = matrix().uop
    shared = matrix().uop
    steps = [
        chance.choice([u.sin, u.exp2, lambda: u + shared])() for _ in range(chance.randrange(5))
    ]
    for _ in range(chance.randrange(3, 9)):
        u = (u.sin() + shared).exp2() if seed % 2 else (u * shared).sin()
    nodes = of_graph([u, *steps])
    run = longest_run(nodes)
    if run is None:
        return
    drawn = without(nodes, run)
    kept = [n for n in range(len(nodes)) if run.first(n) == n]
    assert [nodes[n].kind for n in kept] == [node.kind for node in drawn]
    for number, node in zip(kept, drawn, strict=True):
        expected = {kept.index(run.first(s)) for s in nodes[number].sources}
        assert set(node.sources) == expected
    inside = range(run.start, run.start + run.times * run.period)
    for n in inside:
        first = nodes[run.first(n)]
        assert (nodes[n].value, nodes[n].note) == (first.value, first.note)


def test_two_alike_are_drawn_one_by_one():
    nodes = of_graph([(matrix().sin().exp2().sin().exp2()).uop])
    assert longest_run(nodes) is None
    assert repeated(nodes, lambda drawn: False) == nodes


def test_no_graph_at_all_folds_to_nothing():
    assert repeated([], lambda drawn: False) == [] == side_by_side([])
    assert extent_of([]) == (0.0, 0.0)


# ---- how large it will be -----------------------------------------------------------------------

SMALL = {
    "softmax": lambda: matrix().softmax(),
    "layers": lambda: layers(3),
    "one": lambda: matrix(),
    "where": lambda: (matrix() < 1).where(matrix(), matrix() / 3),
}


@pytest.mark.parametrize("make", SMALL.values(), ids=SMALL)
def test_the_estimate_of_the_height_is_what_dot_makes_of_it(make):
    picture = graph(make(), limit=999)
    root = ElementTree.fromstring(layout.svg_of(picture.source))
    _, _, _, height = map(float, root.attrib["viewBox"].split())
    assert extent_of(picture.nodes)[1] == pytest.approx(height, rel=0.2, abs=30)


def test_a_limit_or_fold_false_leaves_the_size_as_it_is():
    x = added(4).sin().exp2().cos().sqrt().sum(axis=1).exp2().sum() * added(30).sin().sum()
    for picture in (graph(x, limit=900), graph(x, fold=False)):
        assert len(picture.nodes) > 40
        height = ElementTree.fromstring(picture.svg()).attrib["height"]
        assert float(height.removesuffix("pt")) > SCREEN


# ---- words in lines -----------------------------------------------------------------------------

WORDS = [
    "a",
    "reduce 64 × 64, " * 30,
    "word " * 400,
    "x" * 300,
    "axes (1, 0, 2), not (0, 1, 2) " * 3,
]


@pytest.mark.parametrize("words", WORDS, ids=lambda w: f"{len(w)} characters")
def test_wrapping_loses_nothing_and_makes_a_block_wider_than_high(words):
    lines = wrapped(words)
    joined = "".join(lines).replace("\u00a0", "").replace(" ", "")
    assert joined == words.replace(" ", "")
    assert "…" not in "".join(lines)
    longest = max(map(len, lines))
    assert len(words) <= 34 or longest * 5.6 > len(lines) * 13


def test_a_line_never_ends_inside_sizes_or_a_short_tuple():
    lines = wrapped(
        "each of 4 × 16 × 16 results is a sum of 32 products over axes (0, 1, 2), then (1, 0)"
    )
    for line in lines:
        assert not line.endswith("×") and not line.startswith("×")
        assert line.count("(") == line.count(")")


def test_a_long_note_is_shown_whole():
    v = [UOp.variable(f"variable_number_{n}", 0, 99) for n in range(12)]
    x = matrix()
    items = x.gelu().sum(axis=1).schedule()
    for picture in (graph(items), graph(sum(v[1:], v[0]))):
        words = " ".join(
            t.text or "" for t in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")
        )
        assert "…" not in words
        for node in picture.nodes:
            for _, line in lines_of(node):
                assert line in words
