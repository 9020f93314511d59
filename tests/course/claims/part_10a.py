"""Part 10a: what its last page claims."""

from __future__ import annotations

import re

from classroom import stops
from classroom.added import added
from classroom.births import made_in, recorded
from classroom.origins import left_of
from classroom.paths import walked, walks
from classroom.walking import PACKAGE
from tests.course.claims import claim
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
from tinyframe.uop.node import Operators


@claim("What a method adds is the difference between two walks, one with it and one without it.")
def a_transpose_adds_nothing_to_the_compiler():
    new = set(walked("m.T + 1").calls) - set(walked("m + 1").calls)
    assert ("uop/node.py", "UOp.permute") in new
    compiler = ("schedule", "codegen", "algebra", "rewrite", "renderer")
    assert not [file for file, _ in new if file.startswith(compiler)]
    # and the busiest room of a walk is that of patterns
    rooms = walked("m + 1").rooms
    assert max(rooms, key=lambda file: sum(rooms[file].values())) == "rewrite/matcher.py"


@claim("The second time, a graph is built and looked up, and nothing is compiled.")
def the_compiler_sleeps():
    first, again = walks("a + b", "a + b", to="numbers")
    compiled = {"schedule/ranges.py", "codegen/linearize.py", "renderer/cstyle.py",
                "runtime/clang.py"}  # fmt: skip
    assert compiled <= set(first.rooms) and compiled.isdisjoint(again.rooms)
    assert {"tensor/elementwise.py", "schedule/__init__.py"} <= set(again.rooms)


@claim("A rule sees one node, and the stack frames around it see everything else.")
def the_kernel_is_nine_frames_out():
    def rule(u):
        breakpoint()

    (item,) = (Tensor([1.0, 2.0]).realize() * 3 + 1).schedule()
    table = PatternMatcher([(UPat(Ops.ADD, name="u"), rule)])
    with added(table), stops.session(["p sorted(locals())", "up 9", "p ast is not None"]) as said:
        get_program(item.ast, CStyleLanguage(), [])
    assert stops.answers(said[0]).splitlines() == ["['u']", "True"]


@claim("Each node of a finished kernel was there from the start, or a row of a table made it.")
def every_node_has_an_origin():
    x = Tensor([3.0, 4.0]).realize()
    difference = x - x * 0.5
    (item,) = difference.schedule()
    given = set(item.ast.toposort())
    sink, passes = recorded(x - x * 0.25)
    made = {u: made_in(u, passes) for u in sink.toposort()}
    (minus,) = [u for u in made if u.op is Ops.SUB]
    assert Ops.SUB not in {u.op for u in given}
    assert made[minus] is not None and made[minus].rule is not None
    assert all(made[u] is None for u in made if u in given)


@claim("To understand a framework, read all of it.")
def an_addition_enters_a_fifth_of_the_files():
    files = [path for path in PACKAGE.rglob("*.py") if path.read_text().strip()]
    part = len(walked("m + 1").rooms) / len(files)
    assert 0.15 < part < 0.25 and 150 < len(files) < 250


@claim("+ is a method of Tensor.")
def plus_is_written_once():
    assert Tensor.__add__ is UOp.__add__ is Operators.__add__
    assert Operators.__module__ == "tinyframe.uop.node"
    written = [path for path in PACKAGE.rglob("*.py")
               if re.search(r"def __add__\(self, other\).*_binary", path.read_text())]  # fmt: skip
    assert [path.name for path in written] == ["node.py"]


data = Tensor([[1.0, -2.0], [3.0, -4.0]]).realize()


def twice_relu():
    once = data.relu()
    same = once + 0
    return same.relu()


@claim("The compiler cleans up whatever I write.")
def nobody_has_a_rule_for_two_relus():
    for noopt in (0, 1):
        with Context(NOOPT=noopt):
            found = [bool(ops) for ops in left_of(twice_relu).values()]
        assert found == [True, False, True]
