"""compare(): what is the same stands side by side, what differs is marked, and nothing else."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.viz.drawn import SVG, height_of, texts
from tinyframe import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz import compare
from tinyframe.viz.compare import differences, matched
from tinyframe.viz.layout import SCREEN
from tinyframe.viz.nodes import of_graph

pytestmark = pytest.mark.usefixtures("no_dot")


def said(picture) -> str:
    return picture.headline.removeprefix("two graphs: ")


def marks(picture) -> list[tuple[str, str]]:
    return [(node.title, node.mark) for node in picture.nodes if node.mark]


def expression(seed: int, x: UOp, y: UOp, length: int = 12, other: int = -1) -> UOp:
    """A random expression; at step `other` it takes another op than it else would."""
    chance = random.Random(seed)
    known = [x, y]
    for step in range(length):
        a, b = chance.choice(known), known[-1]
        pick = chance.randrange(4)
        pick = (pick + 1) % 4 if step == other else pick
        known.append([b.sin, b.exp2, lambda a=a, b=b: a + b, lambda a=a, b=b: a * b][pick]())
    return known[-1]


@pytest.mark.parametrize("seed", range(25))
def test_pairs_are_one_to_one_and_of_one_op_and_marks_are_on_what_is_in_one_only(seed):
    x, y = Tensor.empty(4).uop, Tensor.empty(4).uop
    a, b = expression(seed, x, y), expression(seed, x, y, other=seed % 12)
    first, second = of_graph([a]), of_graph([b])
    pairs = matched(first, second)
    assert len(set(pairs.values())) == len(pairs)
    for n, m in pairs.items():
        assert first[n].title.split()[0] == second[m].title.split()[0]
    shared = set(a.toposort()) & set(b.toposort())
    for n, m in pairs.items():
        if first[n].of in shared:
            assert second[m].of is first[n].of, "the very same node stands for itself"
    for d in differences(first, second, pairs):
        assert first[d.first].of not in shared if d.first is not None else True
    assert bool(differences(first, second, pairs)) == (a is not b)
    again = expression(seed, Tensor.empty(4).uop, Tensor.empty(4).uop)
    picture = compare(a, again)
    assert marks(picture) == [] and picture.headline == "two graphs: they are the same"


SAID = [
    (lambda a, b: (a * b + a, (a * b) * b + a), "the second has one MUL more"),
    (lambda a, b: ((a * b) * b + a, a * b + a), "the first has one MUL more"),
    (lambda a, b: (a + b, (a + b).sin().sin().exp2()), "the second has two SIN and one EXP2 more"),
    (lambda a, b: (a / a, a / b), "the second has one BUFFER more"),
    (lambda a, b: ((a * b).sum(), (a + b).sum()),
     "the first has one MUL, and the second has one ADD instead"),
    (lambda a, b: ([], a), "the second has one BUFFER more"),
    (lambda a, b: (a / b, b / a),
     "in the second, FDIV takes b as x, a as y; in the first, it takes a as x, b as y"),
    (lambda a, b: (a + b, b + a),
     "in the second, ADD takes b, then a; in the first, it takes a, then b"),
    (lambda a, b: (a - b, b - a), "in the second, MUL takes a; in the first, it takes b"),
    (lambda a, b: (a * a + b * b, b * b + a * a),
     "in the second, ADD takes its sources in a different order"),
    # the same order is found before a different one
    (lambda a, b: ([a + b, b + a], [b + a, a + b]), "they are the same"),
    (lambda a, b: ([a.sin(), a.exp2()], [a.sin(), a.exp2()]), "they are the same"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), SAID)
def test_the_first_difference_in_a_sentence(make, words):
    a, b = Tensor.empty(4), Tensor.empty(4)
    picture = compare(*make(a, b), a=a, b=b)
    assert said(picture) == words
    if words == "the second has one MUL more":
        assert marks(picture) == [("MUL", "only here")]
    assert bool(marks(picture)) == (words != "they are the same")


def test_what_follows_from_a_difference_is_not_marked():
    x = Tensor.empty(2, 3, 4)
    first, second = (x.permute(*order).sin().sum(axis=0) for order in ((1, 0, 2), (2, 1, 0)))
    picture = compare(first, second)
    assert marks(picture) == [
        ("PERMUTE", "differs: axes (1, 0, 2), not axes (2, 1, 0)"),
        ("PERMUTE", "differs: axes (2, 1, 0), not axes (1, 0, 2)"),
    ]
    assert said(picture) == "in the second, PERMUTE is axes (2, 1, 0), not axes (1, 0, 2)"


def test_another_dtype_constant_or_shape_is_a_difference_and_all_can_be_compared():
    x = Tensor.empty(4)
    assert marks(compare(x.half(), x.int()))[0][1] == "differs: (4,) half, not (4,) int"
    assert marks(compare(x * 2, x * 3))[0][1] == "differs: · * 2.0, not · * 3.0"
    words = marks(compare(Tensor.empty(4), Tensor.empty(5)))[1][1]
    assert words == "differs: (5,) float, not (4,) float"
    assert marks(compare((x + 1).schedule()[0], (x * 2).schedule()[0]))
    assert compare([], []).text == "two graphs: they are the same\nthe first\nthe second"
    assert re.fullmatch(r"the second has \w+ nodes more", said(compare([], x.gelu())))
    with pytest.raises(TypeError, match="not int"):
        compare(x, 3)


def test_sources_in_a_different_order_are_a_difference_and_each_is_named():
    a, b = Tensor.empty(4), Tensor.empty(4)
    added = compare(a + b, b + a)
    assert marks(added) == [("ADD", "takes a, then b"), ("ADD", "takes b, then a")]
    for node in (node for node in added.nodes if node.mark):
        named = [added.nodes[s].names for s in node.sources]
        order = [("a",), ("b",)] if "a, then" in node.mark else [("b",), ("a",)]
        assert [dict(zip(node.operands, named, strict=True))[n] for n in ("1st", "2nd")] == order
    assert {"1st", "2nd"} <= set(texts(added))
    assert [title for title, _ in marks(compare(a - b, b - a))] == ["MUL", "MUL"]
    numbered = compare(a + b, b + a, other=a.sin())  # a BUFFER has the same number on both sides
    assert "ADD takes BUFFER 1, then BUFFER 0; in the first, it takes" in said(numbered)


def test_names_and_titles_are_those_given():
    a, b = Tensor.empty(4), Tensor.empty(4)
    picture = compare(a * b, a + b, titles=("yours", "asked"), left=a)
    assert [node.names for node in picture.nodes if node.names] == [("left",), ("left",)]
    assert picture.text.splitlines()[0].startswith("two graphs: ")
    assert {"yours", "asked"} <= set(picture.text.splitlines())
    own = compare(a * b, a + b)
    assert {name for node in own.nodes for name in node.names} == {"a", "b"}


def test_what_is_the_same_stands_at_the_same_height_the_first_at_the_left():
    a, b = Tensor.empty(4), Tensor.empty(4)
    picture = compare((a * b).sin(), (a * b).exp2().sin())
    root = ElementTree.fromstring(picture.svg())
    place = {}
    for group in root.iter(f"{SVG}g"):
        if number := group.get("data-node"):
            *_, text = (t for t in group.iter(f"{SVG}text") if t.get("font-weight") == "bold")
            place[int(number)] = float(text.attrib["x"]), float(text.attrib["y"])
    for title in ("BUFFER 0", "BUFFER 1", "MUL", "SIN"):
        left, right = (n for n, node in enumerate(picture.nodes) if node.title == title)
        assert place[left][0] < place[right][0]
        assert abs(place[left][1] - place[right][1]) < 12, title


def test_a_change_in_the_middle_of_a_long_chain_is_what_is_drawn():
    a, b = Tensor.empty(4), Tensor.empty(4)

    def long(changed: int) -> Tensor:
        x = a
        for n in range(400):
            x = ((x * b).cos() if n == changed else (x * b).exp2()) + a
        return x

    picture = compare(long(-1), long(200))
    assert marks(picture) == [("EXP2", "only here"), ("COS", "only here")]
    assert len(picture.nodes) < 130
    assert height_of(picture) <= SCREEN
