"""Drawings: shapes and words become an SVG that any parser reads, with all text in its place."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.viz.drawn import SVG, boxes, contrast, said, words
from tinyframe import Tensor, viz
from tinyframe.viz.charts import LINES
from tinyframe.viz.drawing import MUTED, Drawing, n, width_of, wrapped
from tinyframe.viz.kinds import ARROW, TEXT
from tinyframe.viz.nests import AXES
from tinyframe.viz.picture import DrawnPicture

ROOT = Path(__file__).resolve().parents[2]


def parsed(sheet: Drawing, title: str = "a title", text: str = "some text") -> ElementTree.Element:
    return ElementTree.fromstring(sheet.to_svg(title, text))


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
@example("<script>alert('x')</script> & \"more\"", "]]><script>", '<b a="1">')
def test_any_text_is_escaped_and_any_character_can_be_shown(a, b, c):
    sheet = Drawing()
    sheet.words(0, 10, a)
    sheet.box(0, 20, 40, 20, "#ffffff", words=[b], title=f"title {c}")
    root = parsed(sheet, f"aria {c}", b)
    for text in (a, b):
        if text.isprintable():
            assert text in said(root)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "text", "rect", "g"}  # fmt: skip


def test_a_sheet_is_as_large_as_what_is_on_it():
    sheet, inner = Drawing(), Drawing()
    inner.box(0, 0, 30, 40, "#ffffff")
    sheet.put(inner, 100, 200)
    sheet.line([(5, 6), (150, 7)])
    assert (sheet.width, sheet.height) == (150, 240)
    (box,) = boxes(parsed(sheet))
    assert (box.left, box.top, box.right, box.bottom) == (100, 200, 130, 240)


@pytest.mark.parametrize("anchor", ["start", "middle", "end"])
def test_words_count_for_the_size_of_a_sheet(anchor):
    sheet = Drawing()
    sheet.words(200, 50, "a few words", anchor=anchor)
    (found,) = words(parsed(sheet))
    assert found.right <= sheet.width + 0.01 and found.bottom <= sheet.height + 1


@given(st.text(st.characters(codec="ascii"), max_size=120), st.floats(30, 400), st.booleans())
def test_wrapped_text_keeps_its_letters_and_fits(text, width, mono):
    lines = wrapped(text, width, mono=mono)
    assert wrapped("one two three", width_of("one two")) == ["one two", "three"]
    assert "".join("".join(lines).split()) == "".join(text.split())
    indent = len(text) - len(text.lstrip())
    if not mono or indent * 7 < width / 2:
        for line in lines:
            assert width_of(line, mono=mono) <= width or len(line.strip()) <= 1


def test_code_is_cut_between_names_and_numbers():
    width = width_of("data1[((r2*1", mono=True)
    assert wrapped("data1[((r2*1442)+r3)]", width, mono=True) == ["data1[((r2*", "1442)+r3)]"]
    assert wrapped("data12345678", width_of("data12", mono=True), mono=True)[0] == "data12"


@given(st.floats(-1e6, 1e6))
def test_numbers_are_written_short_and_near_enough(value):
    assert abs(float(n(value)) - value) <= 0.0051 and "e" not in n(value)


def test_words_lines_and_plots_can_be_seen_on_both_pages():
    for page in ("#ffffff", "#111111"):
        assert contrast(MUTED, page) >= 4
        for colour in (ARROW, *[colour for colour, _ in LINES]):
            assert contrast(colour, page) >= 3, colour
    assert min(contrast(TEXT, axis.fill) for axis in AXES.values()) >= 7


def test_a_picture_is_shown_as_an_image_with_an_alternative(tmp_path):
    sheet = Drawing()
    sheet.box(0, 0, 10, 10, "#ffffff")
    picture = DrawnPicture('a "box" <i>', "all of it", sheet)
    shown = picture._repr_mimebundle_()
    assert shown["text/plain"] == "all of it"
    assert 'alt="a &quot;box&quot; &lt;i&gt;' in shown["text/html"]
    data = re.search(r"base64,([^\"]+)", shown["text/html"])[1]
    assert base64.b64decode(data).decode() == picture.svg()
    assert picture.save(tmp_path / "box.svg").read_text() == picture.svg()


# ---- all of them ---------------------------------------------------------------------------------

SAME = """
from tinyframe import Tensor, viz
for _ in range({before}):
    (Tensor.empty(16) + 1).schedule()
    Tensor([1.0]).realize()
a, b = Tensor.empty(16, 32), Tensor.empty(32, 8)
def x(): return (a @ b + 1).softmax()
names = "graph", "schedule", "memory", "traffic", "kernel", "access", "memory_layout", "rewrites"
pictures = [getattr(viz, name)(x()) for name in names]
print([pictures[-1].shown(n) for n in range(9)])
layers = a
for _ in range(9):
    layers = (layers * Tensor.empty(16, 32)).exp2() + Tensor.empty(32)
pictures += [viz.graph(x().schedule()), viz.graph(x().kernelize()), viz.graph(layers),
             viz.graph(a / a.sum(), kernels=True), viz.compare(x(), x().exp2())]
for picture in pictures:
    print(picture.svg(), picture)
"""


def test_text_and_picture_are_the_same_whatever_ran_before_and_however_hashes_fall(tmp_path):
    printed = set()
    (tmp_path / "dot").write_text("#!/bin/sh\nexit 1\n")  # every machine lays out with the wheel
    (tmp_path / "dot").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    for before, seed in ((0, "1"), (3, "2")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PATH": path}
        command = [sys.executable, "-c", SAME.format(before=before)]
        printed.add(subprocess.run(command, capture_output=True, env=env, check=True).stdout)
    assert len(printed) == 1


RUN_NOTHING = ("access", "graph", "kernel", "memory", "memory_layout", "schedule", "traffic",
               "rewrites", "instructions")  # fmt: skip


@pytest.mark.parametrize("name", [*RUN_NOTHING, "why"])
def test_drawing_neither_runs_nor_changes_a_tensor(name, monkeypatch):
    a = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    x = (a @ a).softmax()
    graph = x.uop

    def run(*arguments):
        raise AssertionError("something was run")

    with monkeypatch.context() as patched:
        patched.setattr("tinyframe.tensor.laziness.run_schedule", run)
        getattr(viz, name)(x)._repr_mimebundle_() if name != "why" else repr(viz.why(x))
    assert x.uop is graph
    expected = [[7.0, 10.0], [15.0, 22.0]]
    assert (a @ a).tolist() == expected
    assert [round(sum(row), 5) for row in x.tolist()] == [1, 1]


@pytest.mark.parametrize("name", [*RUN_NOTHING, "timeline", "roofline", "why"])
@pytest.mark.parametrize("wrong", [3, "x", None, {}])
def test_what_cannot_be_drawn_is_a_type_error_that_names_it(name, wrong):
    with pytest.raises(TypeError, match=rf"{name}\(\).* not {type(wrong).__name__}"):
        getattr(viz, name)(wrong)


@pytest.mark.parametrize("name", RUN_NOTHING)
@pytest.mark.parametrize("dtype", ["int8", "bool", "float16", "bfloat16", "uint64"])
def test_every_dtype_can_be_drawn(name, dtype):
    x = Tensor.empty(6, 4, dtype=dtype)
    assert getattr(viz, name)(x.permute(1, 0).contiguous()).svg().startswith("<svg")


def test_every_name_that_is_exported_is_told_of():
    for name in filter(lambda name: callable(getattr(viz, name)), vars(viz)):
        assert getattr(viz, name).__doc__
        if name[0].islower():
            assert f"    {name}(" in viz.__doc__ or f"\n{name}(" in viz.__doc__, name


# ---- plots ---------------------------------------------------------------------------------------


def test_plots_in_the_style_are_transparent_and_their_lines_differ(tmp_path):
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt
    from matplotlib_inline.backend_inline import _fetch_figure_metadata

    with mpl.rc_context():
        viz.use_style()
        _, axes = plt.subplots()
        for k in range(len(LINES)):
            axes.plot([0, 1], [k, k + 1], label=f"line {k}")
        assert _fetch_figure_metadata(axes.figure) is None, "a notebook puts no slab behind it"
        axes.set_title("a title")
        axes.legend()
        for name in ("plot.svg", "again.svg"):
            plt.savefig(tmp_path / name, metadata={"Date": None, "Creator": None})
        colours = {line.get_color() for line in axes.lines}
        dashes = {str(line.get_linestyle()) + str(line._dash_pattern) for line in axes.lines}
        plt.close("all")
    assert len(colours) == len(dashes) == len(LINES)
    assert (tmp_path / "plot.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    svg = (tmp_path / "plot.svg").read_text().lower()
    assert MUTED in svg and not re.search(r"fill: ?#fff", svg) and "#000000" not in svg


def test_without_matplotlib_a_chart_is_its_text_and_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = viz.traffic(Tensor.empty(4) + 1)._repr_mimebundle_()
    assert shown.keys() == {"text/plain"} and shown["text/plain"].startswith("traffic: ")
    assert "pip install 'tinyframe[course]'" in shown["text/plain"]
    with pytest.raises(ImportError, match="pip install .tinyframe.course."):
        viz.use_style()
