"""`rewrites(x)`: what it tells of a kernel is what the compiler did, in words that are true."""

from __future__ import annotations

import base64
import re
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import rows_of
from tinyframe import Context, Tensor, Variable, dtypes
from tinyframe.algebra.symbolic import forget_simplified
from tinyframe.codegen import get_program, passes_for
from tinyframe.device import Device
from tinyframe.rewrite.matcher import record
from tinyframe.runtime.null import NullDevice
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz import rewrites
from tinyframe.viz.explorer.rows import after_steps
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.rewrites import TALLEST, WIDGET_VIEW, RewritesPicture, broken
from tinyframe.viz.steps import MEANINGS, Rule, rule_at, told, way_of

HOSTILE = '<script>alert("x")</script>&'


def numbers(*shape: int, dtype=dtypes.float32) -> Tensor:
    return Tensor(np.arange(np.prod(shape)).reshape(shape)).cast(dtype).contiguous().realize()


def symbolic() -> Tensor:
    size = Variable("n", 1, 8).bind(5)
    return numbers(8, 4)[:size].sum(0)


KERNELS = {
    "one element": lambda: numbers(1) + 1,
    "chain": lambda: (numbers(100) * 2 + 1).relu(),
    "softmax": lambda: numbers(64, 16).softmax(1),
    "matmul": lambda: numbers(64, 48) @ numbers(48, 32),
    "convolution": lambda: numbers(2, 3, 9, 9).conv2d(numbers(4, 3, 3, 3)).relu(),
    "padded and flipped": lambda: numbers(5, 7).pad(((1, 2), (0, 3))).flip(1) * 3,
    "integers": lambda: numbers(40, dtype=dtypes.int32) // 3 % 5,
    "long": lambda: numbers(40, dtype=dtypes.int64) * 7 - 1,
    "booleans": lambda: (numbers(20) < 5) & (numbers(20) > 2),
    "half": lambda: numbers(6, 6, dtype=dtypes.float16).sum(0),
    "argmax": lambda: numbers(12, 5).argmax(1),
    "sorted": lambda: numbers(10).sort()[0],
    "random": lambda: Tensor.rand(1000),
    "functions": lambda: numbers(33).sin() + numbers(33).exp() * numbers(33).sqrt(),
    "symbolic size": symbolic,
}
each_kernel = pytest.mark.parametrize("name", KERNELS)


# ---- what happened is what is told -----------------------------------------------------------


@each_kernel
@pytest.mark.parametrize("noopt", [0, 1])
def test_what_is_told_is_what_the_compiler_did(name, noopt) -> None:
    with Context(NOOPT=noopt):
        ast = one_kernel(KERNELS[name](), None, "rewrites")[0].ast
        renderer = Device[Device.DEFAULT].renderer
        found = way_of(ast, renderer)
        forget_simplified()
        with record() as made:
            program = get_program(ast, renderer)
        again = rewrites(ast)  # though all of it has been simplified before
    for stage in found.stages:
        for one in stage.rewrites:
            done = after_steps(found.rows, one.before, one.steps, one.walk)
            assert done is one.after, (stage.name, one.name)
    for one, following in pairwise(found.stages[:-1]):
        assert following.before is one.after
    assert [row.op for row in found.stages[-1].roots] == [u.op for u in program.uops]
    assert found.data["source"] == program.src
    assert found.count == sum(len(p.steps) for p in made)
    assert sum(count for _, count, _, _ in again.table) == found.count
    assert len(found.stops) == found.count + len(found.changing)


@each_kernel
def test_every_stop_can_be_shown(name) -> None:
    picture = rewrites(KERNELS[name]())
    for number in range(0, len(picture.way.stops), 7):
        shown = picture.shown(number)
        assert shown["at"] == number and len(shown["pictures"]) == 2
        for side in shown["pictures"]:
            ElementTree.fromstring(side["svg"])
    with pytest.raises(IndexError):
        picture.shown(len(picture.way.stops))


def test_a_rewrites_sides_are_marked_and_explained() -> None:
    picture = rewrites(numbers(64, 48) @ numbers(48, 32))
    number = next(n for n, stop in enumerate(picture.way.stops) if stop.step is not None)
    shown = picture.shown(number)
    before, after = (side["svg"] for side in shown["pictures"])
    assert ">matched<" in before and ">new<" not in before
    assert shown["before"] and shown["after"] and shown["before"] != shown["after"]
    file, line = shown["code"].split("  ")[0].split(":")
    assert file.endswith(".py") and int(line) > 0


def test_each_stage_has_a_meaning() -> None:
    devices = ["CPU", *[f"NULL:{language}" for language in NullDevice.variants]]
    stages = {name for device in devices for name, _ in passes_for(Device[device].renderer)}
    assert len(devices) > 4 and stages | {"linearize"} == MEANINGS.keys()


def test_a_rule_says_its_first_sentence_or_its_line(tmp_path) -> None:
    file = tmp_path / "rules.py"
    file.write_text(
        'def first(x: int,\n          y: int) -> int:\n    """What it does. And more."""\n'
        '\ndef second(x):\n    """What that\n    does."""\n\ndef third(x):\n    return x\n'
        "\n    (x + 0, lambda x: x),\n"
    )
    found = [rule_at(str(file), line) for line in (1, 5, 9, 12)]
    assert [rule.meaning for rule in found] == ["What it does", "What that does", "", ""]
    assert [rule.title for rule in found[:3]] == [
        "rules.py:1  first", "rules.py:5  second", "rules.py:9"
    ]  # fmt: skip
    assert found[3].source == "(x + 0, lambda x: x)" and found[3].title == "rules.py:12"


# ---- expressions ------------------------------------------------------------------------------

NAMES = ("x", "y", "a", "b")  # two of which are letters that `told` would use itself
VARIABLES = {name: UOp.variable(name, 0, 20) for name in NAMES}
LEAVES = st.sampled_from([*VARIABLES.values(), *(UOp.const(dtypes.int, n) for n in range(1, 6))])


def joined(inner):
    pairs = st.tuples(st.sampled_from("+-*/%m"), inner, inner)
    made = {
        "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
        "/": lambda x, y: x // (y * y + 1), "%": lambda x, y: x % (y * y + 1),
        "m": lambda x, y: x.maximum(y),
    }  # fmt: skip
    return pairs.map(lambda p: made[p[0]](p[1], p[2]))


EXPRESSIONS = st.recursive(LEAVES, joined, max_leaves=12)


def value(text: str, values: dict[str, int]) -> int:
    return eval(text, {"max": max, "min": min, "__builtins__": {}}, values)


@given(EXPRESSIONS, EXPRESSIONS, st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_with_its_letters_put_in_a_text_is_the_expression(first, second, given_values) -> None:
    before, after = rows_of(first * second + first, second + first)
    values = dict(zip(NAMES, given_values, strict=True))
    words = told(before, after)
    below = (row for side in (before, after) for row in side.toposort())
    used = {row.arg[0] for row in below if row.op is Ops.DEFINE_VAR}
    for text, node in ((words.before, first * second + first), (words.after, second + first)):
        names = dict(values)
        for letter, meaning in words.letters:
            assert letter not in used
            if "nodes that end" in meaning:
                return  # too long to be written out: nothing to put in
            names[letter] = value(meaning, values)
        shown = VARIABLES.values()
        expected = node.substitute({v: v.const_like(values[v.arg[0]]) for v in shown}).simplify()
        assert expected.op is Ops.CONST and value(text, names) == expected.arg


def test_shared_parts_are_letters_and_short_ones_stay() -> None:
    x, y = VARIABLES["x"], VARIABLES["y"]
    long = (x * 3 + y * 5) % 17 + (y * 7)
    words = told(*rows_of(long * 1 + 0, long))
    assert (words.before, words.after) == ("(a*1)+0", "a") and len(words.letters) == 1
    assert told(*rows_of(x * 1, x)).where == ""


def test_lanes_that_are_the_same_are_said_once() -> None:
    x = VARIABLES["x"]
    same = UOp(Ops.VECTORIZE, dtypes.int.vec(8), (UOp.const(dtypes.int, 500),) * 8)
    lanes = UOp(Ops.VECTORIZE, dtypes.int.vec(8), (x,) * 8)
    words = told(*rows_of(lanes + same, lanes - same))
    assert "vec8(500)" in words.before + words.where
    assert words.before.count("500") <= 1


def test_a_deep_graph_with_shared_parts_is_told_in_a_few_lines() -> None:
    x = deep = VARIABLES["x"]
    for n in range(2000):
        deep = deep * deep + n
    words = told(*rows_of(deep + 0, deep))
    other = told(*rows_of(deep + 0, x))
    assert len(words.before) < 50 and len(other.before) < 500


@given(st.text(alphabet="ab+(,)* ", min_size=1, max_size=200), st.integers(8, 60))
def test_broken_lines_are_short_and_lose_nothing(text, width) -> None:
    lines = broken(text, width)
    assert "".join(lines) == text
    assert all(len(line) <= width for line in lines)


# ---- the picture -------------------------------------------------------------------------------


@each_kernel
def test_the_still_picture_fits_a_screen_and_says_what_it_shows(name) -> None:
    picture = rewrites(KERNELS[name]())
    root = ElementTree.fromstring(picture.svg())
    assert root.get("role") == "img" and root.get("aria-label") == picture.headline
    width, height = (float(root.get(side).removesuffix("pt")) for side in ("width", "height"))
    assert width <= 700 and height <= TALLEST + 40
    drawn = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "…" not in drawn
    for stage, count, _, _ in picture.table:
        assert stage in drawn and f"{count:,}" in drawn and stage in str(picture)


def test_a_kernel_for_a_device_that_is_not_here_is_told_too() -> None:
    with Context(DEVICE="NULL:METAL"):
        picture = rewrites(Tensor.empty(64, 64).sum(0))
    assert "ranges to values" in [name for name, *_ in picture.table]
    assert "threadgroup" in picture.way.data["source"]


def test_a_kernel_can_be_chosen() -> None:
    x = numbers(64)
    y = x / x.sum()
    names = [rewrites(y, number).way.function for number in (1, 2)]
    assert names[0] != names[1] and "kernel 2 of 2" in rewrites(y, kernel=2).headline
    assert [rewrites(item).way.function for item in y.schedule()] == names
    for tensor, kernel in ((y, 3), (y, 0), (numbers(0) + 1, None)):
        with pytest.raises(ValueError, match="kernel"):
            rewrites(tensor, kernel)


def test_hostile_names_are_text() -> None:
    found = rewrites(KERNELS["integers"]()).way
    stage = found.changing[0]
    found.stages[stage].name = HOSTILE  # a trace may say anything
    found.data["opts"] = [HOSTILE]
    found.rules[:] = [Rule(HOSTILE, f"def {HOSTILE}", HOSTILE) for _ in found.rules]
    picture = RewritesPicture(found, HOSTILE)
    svgs = [picture.svg()]
    for number in range(len(found.stops)):
        svgs += [side["svg"] for side in picture.shown(number)["pictures"]]
    assert any("&lt;script&gt;" in svg for svg in svgs)
    for svg in svgs:
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
        assert "script" not in tags
    assert "<script" not in picture._repr_mimebundle_()["text/html"]


# ---- in a notebook -------------------------------------------------------------------------------


@pytest.fixture
def outputs(monkeypatch):
    """What a notebook was given to show, one after the other."""
    shown: list[dict] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    return shown


def test_a_notebook_gets_the_picture_with_its_text_and_then_the_widget_where_there_are_any(
    monkeypatch, outputs
) -> None:
    """In one output, a notebook that was opened again showed neither."""
    picture = rewrites(numbers(64, 16).softmax(1))
    picture._ipython_display_()
    still, widget = outputs
    assert still.keys() == {"text/html", "text/plain"} and widget.keys() == {WIDGET_VIEW}
    assert widget[WIDGET_VIEW]["model_id"] == picture.widget.model_id
    assert still["text/plain"] == picture.text
    data = re.search(r"base64,([\w+/=]+)", still["text/html"])
    assert data is not None and base64.b64decode(data[1]).decode() == picture.svg()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "tinyframe.viz.widget.stepper", raising=False)
    rewrites(numbers(6) + 1)._ipython_display_()
    assert [bundle.keys() for bundle in outputs[2:]] == [still.keys()]


def test_only_what_is_looked_at_is_drawn(monkeypatch) -> None:
    drawn = []
    picture = rewrites(Tensor.rand(1000))
    shown = picture.shown
    monkeypatch.setattr(picture, "shown", lambda n: drawn.append(n) or shown(n))
    widget = picture.widget
    assert drawn == [0] and widget.count == len(picture.way.stops)
    widget.at = 5
    assert drawn == [0, 5] and widget.shown == shown(5)
    for asked, nearest in ((-3, 0), (10**9, widget.count - 1)):
        widget.at = asked
        assert widget.at == widget.shown["at"] == nearest


def test_the_outline_leads_to_the_first_stop_of_each_stage() -> None:
    picture = rewrites(numbers(64, 48) @ numbers(48, 32))
    for row in picture.outline:
        assert picture.shown(row["first"])["stage"] == row["name"]
        if row["first"]:
            assert picture.shown(row["first"] - 1)["stage"] != row["name"]
