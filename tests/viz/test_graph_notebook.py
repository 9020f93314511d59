"""The last line of a cell is drawn: Tensors, UOps, schedules; their text stays repr()."""

from __future__ import annotations

import base64
import html
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.notebook import draw_in, drawn
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz import layout

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shell():
    made = InteractiveShell()
    draw_in(made)
    return made


def shown(shell, x) -> dict[str, str]:
    return shell.display_formatter.format(x)[0]


def picture_in(markup: str) -> ElementTree.Element:
    """What the <img> shows; its label is the headline."""
    data = re.search(r"base64,([^\"]+)", markup)
    return ElementTree.fromstring(base64.b64decode(data[1]))


def test_a_lazy_tensor_is_drawn_below_its_text_with_the_learners_names(shell):
    a = Tensor.empty(4)
    shell.user_ns["a"] = a
    bundle = shown(shell, a.exp2())
    assert bundle["text/plain"] == repr(a.exp2())
    assert html.escape(repr(a.exp2())) in bundle["text/html"]
    root = picture_in(bundle["text/html"])
    assert root.attrib["aria-label"] == "graph of 2 nodes: 1 memory, 1 elementwise"
    assert "a" in [element.text for element in root.iter()]


def test_uops_and_schedules_are_drawn_and_keep_their_text(shell):
    y = Tensor.empty(4).exp2()
    bundle = shown(shell, y.uop)
    assert html.escape(repr(y.uop)) in bundle["text/html"]
    odd = UOp(Ops.DEFINE_VAR, dtypes.int, (), ("<script>", 0, 9))
    assert "<script" not in shown(shell, odd * 2)["text/html"]
    items = y.schedule()
    bundle = shown(shell, items)
    headline = picture_in(bundle["text/html"]).attrib["aria-label"]
    assert headline == "schedule of 1 kernel, 2 buffers"


COMPUTED = Tensor.empty(4), Tensor(3.0)


@pytest.mark.parametrize("x", [[], [1, 2], [[Tensor]], "text", 3, None, {"a": 1}, *COMPUTED])
def test_nothing_else_is_drawn(shell, x):
    assert "text/html" not in shown(shell, x)


def test_a_graph_of_many_nodes_is_text_and_is_not_walked_to_its_end(shell, monkeypatch):
    x = Tensor.empty(4)
    for _ in range(20_000):
        x = x.sin()
    monkeypatch.setattr(UOp, "toposort", lambda self, gate=None: pytest.fail("walked"))
    assert drawn(x, {}) is None


def test_without_a_layout_program_there_is_the_text_and_no_complaint(shell, monkeypatch, capsys):
    def missing(*_):
        raise layout.NoLayout("pip install")

    monkeypatch.setattr("tinyframe.viz.graphs.svg_of", missing)
    assert set(shown(shell, Tensor.empty(4).exp2())) == {"text/plain"}
    assert capsys.readouterr() == ("", "")


def test_a_graph_that_makes_no_sense_is_text(shell, capsys):
    odd = UOp(Ops.PERMUTE, dtypes.float, (UOp.const(dtypes.float, 1.0),), "nonsense")
    assert set(shown(shell, odd)) <= {"text/plain", "text/html"}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("first", ["", "import IPython; "])
def test_importing_tinyframe_loads_no_picture_code_and_works_without_a_shell(first):
    code = f"{first}import sys, tinyframe; print([m for m in sys.modules if 'tinyframe.viz' in m])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
