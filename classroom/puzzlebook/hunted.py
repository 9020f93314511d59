"""The right answers of part 10c's questions for a name, each found by running tinyframe.

Which row fired, which function returned that value, which number makes a difference: whatever is
renamed or moved tomorrow, the answer moves along. `Names` and `Words` are the checks made of them.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from classroom.exercise import Wrong
from classroom.lowered import parameter
from classroom.places import Place, fired, named, returned_by, said, temperature, within
from classroom.tiles import COUNTED_FOR
from tinyframe import Context, Tensor, Variable, thresholds
from tinyframe.codegen import Compilation, full_rewrite_to_sink, get_program, passes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Device
from tinyframe.dtype import dtypes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, UPat, graph_rewrite, matcher
from tinyframe.rewrite.spec import SpecError, spec_kernel
from tinyframe.rewrite.stages import staged
from tinyframe.settings import rows
from tinyframe.tensor.gradient import gradient_rules
from tinyframe.uop import GroupOp, Ops, UOp
from tinyframe.viz import why

PLAIN = CStyleLanguage()  # the C of a plain processor


class Names:
    """The check of a question for a name: `find` gives the places that are right."""

    def __init__(self, find: Callable[[], Iterable[Place]], shows: str) -> None:
        self.find, self.shows = find, shows

    @cached_property
    def places(self) -> list[Place]:
        """Those that are right, found by running tinyframe once."""
        with Context(NOOPT=1, DEBUG=0, RELAXED=0):
            return list(self.find())

    def __call__(self, answer: Any) -> str:
        text = said(answer)
        if found := next((place for place in self.places if place.is_meant_by(text)), None):
            return f"Found: {found}. {self.shows}"
        raise Wrong(temperature(text, self.places), got=text)


class Words:
    """The check of a question for a word: `find` gives those that are right."""

    def __init__(self, find: Callable[[], Iterable[str]], shows: str, no: str) -> None:
        self.find, self.shows, self.no = find, shows, no

    @cached_property
    def right(self) -> list[str]:
        with Context(NOOPT=1, DEBUG=0, RELAXED=0):
            return list(self.find())

    def __call__(self, answer: Any) -> str:
        if isinstance(answer, Context):
            answer = answer.values
        if isinstance(answer, Mapping):
            answer = [*answer]
        text = said(answer)
        assigned = {*ASSIGNED.findall(text)}  # SPEC=1 python train.py, or Context(SPEC=1)
        words = named(assigned.pop() if len(assigned) == 1 else text.replace("expand_", "expand "))
        for word in self.right:
            if named(word) <= words and not words - named(word) - EXTRA:
                return f"Found: `{word}`. {self.shows}"
        raise Wrong(self.no, got=said(answer))


ASSIGNED = re.compile(r"\b([A-Z][A-Z_]+)\W*=")
EXTRA = {"ops", "thresholds", "settings", "passes", "the", "pass"}


# ---- small kernels -------------------------------------------------------------------------------


def floats(*values: float) -> Tensor:
    return Tensor(list(map(float, values))).realize()


def kernel_of(x: Tensor) -> UOp:
    (item,) = x.schedule()
    return item.ast


def compiled(x: Tensor) -> Callable[[], UOp]:
    ast = kernel_of(x)
    return lambda: full_rewrite_to_sink(ast, PLAIN, [])


def one_turn_loop() -> tuple[UOp, UOp]:
    """A kernel with a loop of one turn, and that loop."""
    out, data = parameter(0, 6), parameter(1, 6)
    i, once = UOp.range(6, 0), UOp.range(1, 1)
    store = out.index(i + once).store(data.index(i + once).load(), i, once)
    return UOp.sink(store), once


@cache
def tables() -> tuple[Tensor, Tensor]:
    """Those of 7b: four rows and six columns, and a number for each column."""
    return (
        Tensor(np.arange(24, dtype=np.float32).reshape(4, 6) / 24).realize(),
        Tensor(np.arange(6, dtype=np.float32).reshape(1, 6) / 6).realize(),
    )


def scaled() -> Tensor:
    table, w = tables()
    return (table * w.exp()).sum(axis=1)


# ---- names ---------------------------------------------------------------------------------------


def is_text(text: str) -> Callable[[Any, Any], bool]:
    return lambda result, _: isinstance(result, str) and result == text


def rule_for_one_turn() -> list[Place]:
    sink, once = one_turn_loop()
    return fired(lambda: full_rewrite_to_sink(sink, PLAIN, []), lambda s, _: s.before is once)


def who_stores() -> list[Place]:
    (reason,) = {stored.reason for stored in why(scaled())} - {"output"}
    return returned_by(lambda: why(scaled()), is_text(reason))


def who_subtracts() -> list[Place]:
    i, j = Tensor([3, 4]).realize(), Tensor([1, 2]).realize()
    return fired(compiled(i - j), lambda step, _: step.after.op is Ops.SUB)


def pass_of_vectors() -> list[str]:
    ast, seen = kernel_of(Tensor(np.ones((16, 16), np.float32)).realize() + 1), set[Ops]()
    job, found = Compilation(COUNTED_FOR, [Opt(OptOps.VECTOR, 1, 8)]), []
    for name, function in passes:
        ast = function(ast, job)
        ops = {u.op for u in ast.toposort()}
        found += [name] if Ops.VECTORIZE in ops - seen else []
        seen |= ops
    return found


def numbers_of_long_sums() -> list[str]:
    ast, found = kernel_of(Tensor(np.ones(1000, np.float32)).realize().sum()), []
    text = get_program(ast, PLAIN, []).src
    for name in thresholds.TABLE:
        with mock.patch.object(thresholds, name, getattr(thresholds, name) * 4):
            found += [name] if get_program(ast, PLAIN, []).src != text else []
    return found


def who_names_kernels() -> list[Place]:
    ast = kernel_of(floats(1, 2, 3) + floats(4, 5, 6))
    made = get_program(ast, PLAIN, [])
    return returned_by(lambda: get_program(ast, PLAIN, []), is_text(made.function))[:1]


def dead_ends() -> list[str]:
    ops = sorted(GroupOp.Elementwise, key=lambda op: op.name)
    ends = [op.name for op in ops if not gradient_rules.candidates(op, dtypes.float)]
    return [*ends, Ops.DETACH.name]  # its row sends nothing to what it shows


def who_counts_steps() -> list[Place]:
    x, y = UPat.var("x"), UPat.var("y")
    grows = PatternMatcher([(x + y, lambda x, y: x + y * 2 + 1)])
    i, j = Variable("i", 0, 9), Variable("j", 0, 9)
    try:
        # patience is no part of it
        with mock.patch.multiple(matcher, STEPS_AT_LEAST=20, STEPS_PER_NODE=1):
            graph_rewrite(i + j, grows)
    except RewriteLoopError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        name = frame.f_code.co_qualname
        file = within(Path(frame.f_code.co_filename))
        return [Place(file, name.rpartition(".")[0]), Place(file, name)]
    return []


def who_says_what_a_binary_depends_on() -> list[Place]:
    compiler = Device["CPU"].compiler
    with Context(CACHE=1):
        identity = compiler.identity()
    found = returned_by(lambda: compiler.compile_cached("int nothing;"), is_text(identity))
    # a method of every compiler, declared by the class of them all
    return [replace(place, beside="device Compiler") for place in found]


def where_exponentials_are_made() -> list[Place]:
    made = returned_by(
        compiled(floats(3, 4).exp2()),
        lambda result, frame: isinstance(result, UOp) and frame.f_code.co_name.startswith("exp2"),
        under="codegen/decompose/",
    )
    return [*(Place(place.file) for place in made), *made]


def who_asks_before_reading() -> list[Place]:
    ast = kernel_of(floats(1, 2, 3).pad(((1, 1),)) * 2)
    found = returned_by(
        lambda: get_program(ast, PLAIN, []),
        lambda _, frame: (
            "guarded" in frame.f_code.co_names and " ? " in frame.f_locals.get("text", "")
        ),
        under="renderer/",
    )
    return found[:1]


def who_promotes() -> list[Place]:
    small, half = Tensor([1, 2]).realize(), Tensor([1.5], dtype="float16").realize()
    both = {small.dtype, half.dtype}

    def given_both(result: Any, frame: Any) -> bool:
        values = frame.f_locals.values()
        flat = chain(*[v if isinstance(v, (tuple, list, set, frozenset)) else [v] for v in values])
        return result is half.dtype and both <= {v for v in flat if isinstance(v, type(result))}

    return returned_by(lambda: small + half, given_both)


def watchmen() -> list[str]:
    wrong = UOp.sink(UOp(Ops.ADD, dtypes.float, (UOp.const(dtypes.float, 1.0),)))
    found = []
    for name, row in rows().items():
        if row.allowed == "0 or 1" and name != "VIZ":
            try:
                with Context(**{name: 1}):
                    staged("a stage", spec_kernel, lambda: wrong)
            except SpecError:
                found.append(name)
    return found
