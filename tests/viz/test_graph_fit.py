"""Large graphs fit a screen: several nodes are drawn as one with a count, nothing is cut off."""

from __future__ import annotations

import random

import pytest

from tests.viz.drawn import height_of, texts
from tinyframe import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz import graph
from tinyframe.viz.fold import fits, fitted
from tinyframe.viz.layout import SCREEN
from tinyframe.viz.nodes import lines_of, of_graph, wrapped

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
    assert height_of(picture) <= SCREEN
    for number, node in enumerate(picture.nodes):
        assert all(s < number for s in node.sources), "so there is no ring"


def test_no_graph_at_all_folds_to_nothing():
    assert fitted([]) == [] and fits([])


# ---- how large it will be -----------------------------------------------------------------------

SMALL = {
    "softmax": lambda: matrix().softmax(),
    "layers": lambda: layers(1),
    "one": lambda: matrix(),
    "where": lambda: (matrix() < 1).where(matrix(), matrix() / 3),
}


@pytest.mark.parametrize("make", SMALL.values(), ids=SMALL)
def test_what_is_small_is_drawn_whole(make):
    x = make()
    assert all(node.count == 1 for node in graph(x).nodes)
    assert len(graph(x).nodes) == len(of_graph([x.uop]))


def test_unfolded_a_picture_keeps_its_size():
    x = added(4).sin().exp2().cos().sqrt().sum(axis=1).exp2().sum() * added(30).sin().sum()
    picture = graph(x, fold=False)
    assert len(picture.nodes) > 40
    assert height_of(picture) > SCREEN


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
        words = " ".join(texts(picture))
        assert "…" not in words
        for node in picture.nodes:
            for _, line in lines_of(node):
                assert line in words
