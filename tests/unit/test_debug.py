"""What DEBUG shows: counts, kernels, sources, and every stage of the way down."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.kernels import filled, numbers, on_buffer
from tinyframe import Context, Tensor
from tinyframe import schedule as schedule_module
from tinyframe.codegen import passes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.stages import MOST_RULES, folded

SCHEDULING = ["tensor graph", "prepare", "lower to ranges"]
OF_C = [name for name, _ in CStyleLanguage.passes]
NOTHING = " (nothing to do)"
NAMES = [name for name, _ in passes]
OF_A_LANGUAGE = NAMES.index("of the language")
STAGES = [*SCHEDULING, *NAMES[:OF_A_LANGUAGE], *OF_C, *NAMES[OF_A_LANGUAGE + 1 :], "linearize"]


def product(size: int = 4) -> Tensor:
    return filled(numbers(size, size)) @ filled(numbers(size, size, seed=1))


def shown(t: Tensor, capsys, **settings: int) -> str:
    """What is printed when a Tensor is realized."""
    capsys.readouterr()
    with Context(**settings):
        t.realize()
    return capsys.readouterr().out


def stages_of(text: str) -> dict[str, list[str]]:
    """Name -> lines of each stage."""
    blocks = re.split(r"^───── (.*?) ─+$", text, flags=re.MULTILINE)[1:]
    return {
        title.removesuffix(NOTHING): body.strip("\n").splitlines()
        for title, body in zip(blocks[::2], blocks[1::2], strict=True)
    }


# ---- DEBUG=1, 2, 3 -------------------------------------------------------------------------------


def test_1_shows_how_many_kernels_and_how_long(capsys):
    assert shown(product(), capsys, DEBUG=0) == ""
    assert re.fullmatch(r"1 kernel, \d+\.\d\d ms\n", shown(product(), capsys, DEBUG=1))
    x = filled(numbers(64))
    assert shown(x / x.sum(), capsys, DEBUG=1).startswith("2 kernels, ")
    assert shown(x.reshape(8, 8), capsys, DEBUG=1) == ""


def test_2_shows_a_line_for_each_kernel(capsys):
    line, summary, _ = shown(product(64), capsys, DEBUG=2).split("\n")
    device, name, rest = line.split(None, 2)
    assert device == "CPU"
    assert re.fullmatch(r"r(_\d+)+(n\d+)?", name)
    assert "64x64 <- 64x64, 64x64" in rest
    assert re.search(r"[\d.]+ [um]s +[\d.]+ GFLOP/s +[\d.]+ GB/s +[\d.]+ .?B in use", rest)
    assert summary.startswith("1 kernel, ")


def test_2_shows_copies_between_devices(capsys):
    copied = filled(numbers(64)).to("PYTHON") + 1
    text = shown(copied, capsys, DEBUG=2)
    assert re.search(r"PYTHON +copy 256 B from CPU", text)
    assert re.search(r"PYTHON +E_", text)


def test_3_shows_the_source_once_for_each_kernel(capsys):
    x = filled(numbers(64))
    text = shown((x + 1).contiguous() + 1, capsys, DEBUG=3)
    assert text.count("_entry(void** bufs") == 1  # both are the same kernel
    assert "2 kernels, " in text
    python = filled(numbers(4), "PYTHON") + 1
    assert "DEFINE_GLOBAL" in shown(python, capsys, DEBUG=3)


# ---- DEBUG=4, 5 ----------------------------------------------------------------------------------


def test_4_shows_every_stage_by_name_and_the_source(capsys):
    text = shown(product(), capsys, DEBUG=4)
    stages = stages_of(text)
    assert list(stages) == STAGES
    assert "void r_4_4_4" in text and "1 kernel, " in text
    headings = [line for line in text.splitlines() if line[:1] == "─"]
    assert {len(line) for line in headings} == {72}, "which fits a terminal of 80 columns"
    assert all(len(lines) <= 70 for lines in stages.values()), "about a page"
    lines = [line for lines in stages.values() for line in lines]
    assert all(len(line) <= 120 for line in lines if "DEFINE_REG" not in line)
    fired = [line for line in lines if "×" in line]
    assert fired and all(re.match(r" +\d+× \w+\.py:\d+  \S", line) for line in fired)
    assert "rules that fired:" in stages["prepare"]
    x = filled(numbers(64))
    titles = re.findall(r"^───── (.*?) ─", shown(x / x.sum(), capsys, DEBUG=4), flags=re.MULTILINE)
    assert titles.count("tensor graph") == 1
    assert titles.count("lower to ranges") == titles.count("linearize") == 2


def test_5_shows_the_whole_graph_after_each_stage(capsys):
    found = stages_of(shown(product(), capsys, DEBUG=5))
    stages = {name: "\n".join(lines) for name, lines in found.items()}
    assert "REDUCE_AXIS" in stages["tensor graph"]
    assert "PERMUTE" in stages["prepare"]
    assert "RANGE" in stages["lower to ranges"]
    assert "PERMUTE" not in stages["lower to ranges"]
    assert "VECTOR" in stages["optimize"]
    assert "ENDRANGE" in stages["linearize"]


def test_rules_are_not_listed_without_end(capsys):
    y = filled(numbers(6, 7))
    for _ in range(3):
        y = (y.exp().sin() + y.T.reshape(6, 7).pad(((1, 0), (0, 0)))[1:]).log_softmax()
    for lines in stages_of(shown(y, capsys, DEBUG=4)).values():
        assert len([line for line in lines if "×" in line]) <= MOST_RULES


def test_a_stage_that_changes_nothing_is_one_line(capsys):
    for debug in (4, 5):
        text = shown(product(), capsys, DEBUG=debug)
        assert re.search(r"^───── canonicalize loops \(nothing to do\) ─+$", text, re.MULTILINE)
        quiet = re.findall(rf"^───── (.+){re.escape(NOTHING)}", text, re.MULTILINE)
        assert quiet and all(stages_of(text)[name] == [] for name in quiet)


def test_4_leaves_out_only_lines_that_the_graph_before_has_under_the_same_number(capsys):
    y = filled(numbers(6, 4))
    changes, whole = (stages_of(shown(y.softmax(), capsys, DEBUG=debug)) for debug in (4, 5))
    assert list(changes) == list(whole)
    saved = sum(map(len, whole.values())) - sum(map(len, changes.values()))
    assert saved > 20
    for stages in (changes, whole):
        del stages["linearize"]  # a list and no graph; and what ran, with its times
    before: list[str] = []
    for name, lines in changes.items():
        full: list[str] = []
        for line in lines:
            fold = re.fullmatch(r"   … (\d+) to (\d+) as before", line)
            full += before[int(fold[1]) : int(fold[2]) + 1] if fold else [line]
        assert full == whole[name], name
        before = [line for line in full if re.match(r" *\d+ ", line)] or before


@pytest.mark.parametrize("after, expected", [
    ("abcde", ["   … 0 to 4 as before"]),
    ("abXde", ["a", "b", "X", "d", "e"]),  # two lines in a row are not worth it
    ("abcXefg", ["   … 0 to 2 as before", "X", "e", "f", "g"]),
    ("Xabcd", ["X", "a", "b", "c", "d"]),  # under another number
    ("abc", ["   … 0 to 2 as before"]),
    ("", []),
])  # fmt: skip
def test_lines_are_folded_three_or_more_at_a_time(after, expected):
    assert folded(list(after), list("abcde")) == expected


def test_a_kernel_that_was_compiled_before_is_shown_all_the_same(capsys):
    x = filled(numbers(5))
    first = shown(x * 7, capsys, DEBUG=4)
    assert list(stages_of(shown(x * 7, capsys, DEBUG=4))) == list(stages_of(first)) == STAGES


def test_nothing_is_recorded_when_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(schedule_module, "_schedules", {})
    from tinyframe.rewrite import matcher

    begun = []
    monkeypatch.setattr(matcher, "Rewrite", lambda *arguments: begun.append(arguments))
    on_buffer(7).softmax().schedule()
    assert begun == []


# ---- on a terminal of ASCII characters -----------------------------------------------------------

ON_ASCII = """
import sys
from tinyframe import Context, Tensor, Variable
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt
from tinyframe.uop.node import UOp

assert sys.stdout.encoding == "ascii"
for debug in (1, 2, 3, 4, 5):
    print("DEBUG", debug)
    with Context(DEBUG=debug, BEAM=0):
        (Tensor([1, 2] * debug).reshape(debug, 2).T + 3).pad(((1, 1), (0, 0))).sum(0).realize()
x = UOp.variable("x", 0, 9)
kernel = (Tensor.empty(4, 4) + 1).schedule()[0].ast
mistakes = [
    lambda: Tensor.ones(2, 3) + Tensor.ones(4),
    lambda: Tensor.ones(2) + [1, 2],
    lambda: Tensor.ones(3).conv2d(Tensor.ones(3)),
    lambda: bool(x < 3),
    lambda: setattr(x, "arg", 3),
    lambda: apply_opt(kernel, Opt(OptOps.REORDER, 5)),
    lambda: (Tensor.empty(9)[: Variable("n", 1, 9)] + 1).realize(),
]
for mistake in mistakes:
    try:
        mistake()
    except Exception as error:
        print(error, repr(error))
    else:
        raise AssertionError("no mistake")
long = x
for _ in range(400):
    long = long * 3 + x // 2
print(repr(x), kernel, long.render(simplify=False), Tensor.ones(2, 3), Tensor.ones(2, 3).uop)
"""


def test_all_that_is_shown_can_be_shown_on_an_ascii_terminal():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", ON_ASCII], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.decode("ascii")
    assert "\n----- tensor graph ---" in out and "\n----- linearize ---" in out
    assert re.search(r"^ +\d+x \w+\.py:\d+ ", out, re.MULTILINE), "the rules that fired"
    assert "\\u" not in out.split("DEBUG 4")[0]
