"""The learner's names on nodes, and what each operand is to an op."""

from __future__ import annotations

import gc
import operator
import weakref
import xml.etree.ElementTree as ElementTree

import pytest

from tests.viz.drawn import SVG, texts
from tinyframe import Tensor, TinyJit
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.viz import graph
from tinyframe.viz.nodes import OPERANDS

ON_THE_MODULE = Tensor.empty(2, 2)


pytestmark = pytest.mark.usefixtures("no_dot")


def named(picture) -> dict[str, tuple[str, ...]]:
    return {node.title: node.names for node in picture.nodes if node.names}


# ---- names --------------------------------------------------------------------------------------


def test_the_callers_variables_name_their_nodes():
    weights = Tensor.empty(4, 4)
    y = (weights * 2).exp2()
    same = y
    assert named(graph(y)) == {"RESHAPE": ("weights",), "EXP2": ("y", "same")}
    assert same is y


def test_variables_of_the_module_are_found_too_and_locals_come_first():
    assert named(graph(ON_THE_MODULE + 1)) == {"RESHAPE": ("ON_THE_MODULE",)}
    ON_THE_MODULE_2 = ON_THE_MODULE
    assert named(graph(ON_THE_MODULE_2 + 1))["RESHAPE"] == ("ON_THE_MODULE_2", "ON_THE_MODULE")


def test_private_names_and_a_notebooks_history_are_nobodys_names():
    namespace = {"graph": graph, "Tensor": Tensor}
    names = "_ = _1 = _i = __ = In = Out = _private = mine"
    exec(f"{names} = Tensor.empty(4); picture = graph(_.exp2())", namespace)
    assert [n for node in namespace["picture"].nodes for n in node.names] == ["mine"]


def test_names_that_are_given_are_the_only_ones():
    a, b = Tensor.empty(4), Tensor.empty(4)
    odd = dict.fromkeys(("<script>", "a&b", '"', "{x|y}", "ü", "x", "self"), a)
    picture = graph(a * b, left=a, unused=Tensor.empty(3), **odd)
    assert named(picture) == {"BUFFER 0": ("left", *odd)}
    assert "self = BUFFER 0" in picture.text and "<script" not in picture.svg()
    assert all(name in " ".join(texts(picture)) for name in odd)
    assert b is not a


@pytest.mark.parametrize("value", [3, "a", None, [1.0]])
def test_a_name_for_something_else_is_an_error_that_says_so(value):
    with pytest.raises(TypeError, match="a name is for a Tensor or a UOp"):
        graph(Tensor.empty(4), wrong=value)


def test_a_name_stands_on_a_tag_that_is_no_node():
    total = Tensor.empty(4).sum()
    root = ElementTree.fromstring(graph(total).svg())
    (group,) = [g for g in root.iter(f"{SVG}g") if g.get("data-name")]
    assert group.get("data-name") == "total"
    words = [text.text for text in group.iter(f"{SVG}text")]
    assert words[0] == "total" and "total" not in words[1:]
    tag = next(r for r in group.iter(f"{SVG}rect") if r.get("fill") == "#ffffff")
    left, top, width, height = (float(tag.attrib[k]) for k in ("x", "y", "width", "height"))
    text = next(group.iter(f"{SVG}text"))
    assert left < float(text.attrib["x"]) < left + width
    assert top < float(text.attrib["y"]) <= top + height


def test_looking_for_names_inside_a_jit_tells_it_nothing():
    pictures = []

    @TinyJit
    def step(x):
        y = (x + 1).realize()
        pictures.append(graph(y))
        return y

    x = Tensor([1.0, 2.0]).realize()
    assert [step(x).tolist() for _ in range(4)] == [[2.0, 3.0]] * 4
    assert pictures


def test_a_picture_keeps_nothing_alive():
    x = Tensor.empty(64, 64)
    node = weakref.ref(x.uop)
    picture = graph(x, kernels=False)
    del x
    gc.collect()
    assert node() is None
    assert picture.nodes


# ---- operands -----------------------------------------------------------------------------------

INFIX = {"/": operator.truediv, "-": operator.sub, "<": operator.lt}


def test_every_op_whose_operands_cannot_be_exchanged_says_which_is_which():
    has_order = {op for op in GroupOp.Binary | GroupOp.Ternary if op not in GroupOp.Commutative}
    assert has_order - set(OPERANDS) == {Ops.MIN}, "the smaller of two is the same either way"
    for op, words in OPERANDS.items():
        assert len(set(words)) == len(words), op


@pytest.mark.parametrize("op", sorted(OPERANDS), ids=lambda op: op.name)
def test_arrows_stand_in_the_order_of_the_operands(op):
    if op in (Ops.STORE, Ops.ASSIGN):
        x = Tensor.empty(4).realize()
        node = graph(x.assign(x + 1)).nodes[-1]
        assert (node.title, node.operands) == ("ASSIGN", ("old", "new"))
        return
    words = OPERANDS[op]
    sources = [UOp.variable(f"v{n}", 0, 9) for n in range(len(words))]
    u = UOp(op, sources[0].dtype, tuple(sources))
    *_, node = (picture := graph(u)).nodes
    assert node.operands == words
    drawn_from = [picture.nodes[s].title for s in node.sources]
    assert drawn_from == [f"DEFINE_VAR v{n}" for n in range(len(words))]


@pytest.mark.parametrize("sign", INFIX)
def test_the_ends_of_arrows_are_below_their_words_and_from_left_to_right(sign):
    a, b = Tensor.empty(4), Tensor.empty(4)
    for left, right in ((a.exp2(), b.log2()), (b.log2(), a.exp2()), (a.exp2(), a)):
        picture = graph(
            INFIX[sign](left, right) if sign != "-" else left.uop.alu(Ops.SUB, right.uop)
        )
        node = picture.nodes[-1]
        assert node.operands == ("x", "y") and node.note == f"x {sign} y"
        root = ElementTree.fromstring(picture.svg())
        number = str(len(picture.nodes) - 1)
        (group,) = [g for g in root.iter(f"{SVG}g") if g.get("data-node") == number]
        x, y = list(group.iter(f"{SVG}text"))[:2]
        assert (x.text, y.text) == ("x", "y")
        assert float(x.attrib["x"]) < float(y.attrib["x"])


def test_what_is_in_the_note_has_no_arrow():
    x = Tensor.empty(4)
    node = graph((x < 0.5).where(1.0, x)).nodes[-1]
    assert node.operands == ("if", "else") and node.note == "then 1.0"
    assert graph((x < 0.5).where(1.0, 2.0)).nodes[-1].note == "then 1.0, else 2.0"
    text = graph((x < 0.5).where(1.0, x)).text
    assert "if %1, else %0" in text
