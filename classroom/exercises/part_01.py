"""Part 1, why tinyframe: what an answer has to do."""

from __future__ import annotations

from typing import Any

from classroom.ask import call, fresh_tensor, kernels, predicts
from classroom.exercise import Exercise, Graphs, Wrong
from tinyframe import Context, GlobalCounters, Tensor, Variable
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.ops import PatternMatcher, UPat, graph_rewrite

TITLE = "Why tinyframe"


def loops_of_a_sum() -> int:
    a, b = fresh_tensor(4), fresh_tensor(4)
    (item,) = (a * b + 1).sum().schedule()
    with Context(NOOPT=1):
        return get_program(item.ast, CStyleLanguage()).src.count("for (")


def megabytes_of_three_and_of_one() -> tuple[int, ...]:
    a, b = (Tensor.zeros(1_000_000).contiguous().realize() for _ in range(2))
    before = GlobalCounters.global_mem
    ((a * b).realize() + 1).realize().sum().realize()
    between = GlobalCounters.global_mem
    (a * b + 1).sum().realize()
    return round((between - before) / 1e6), round((GlobalCounters.global_mem - between) / 1e6)


def kernels_of_two() -> tuple[int, ...]:
    a, b = fresh_tensor(997), fresh_tensor(997)
    return kernels((a - b).relu().max()), kernels(a / a.sum())


def slope_of_a_quotient(answer: Any) -> str:
    """The slope of x / y by y, at 3 / 2."""
    x, y = Tensor([3.0]), Tensor([2.0])
    (slope,) = (x / y).sum().gradient(y)
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise Wrong("The answer has to be a number.", got=repr(answer))
    if abs(answer - slope.item()) > 1e-6:
        raise Wrong("Another number.", "x = 3, y = 2", got=str(answer))
    return "The slope of `x / y` by `y` is `-x / y²`, and the row of the table says just that."


def row_for_three(answer: Any) -> str:
    """answer(v): a row that makes v * 3 of what is left of v + v + v."""
    row = call(answer, UPat.var("v"))
    if not (isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], UPat)):
        raise Wrong("A row is a tuple of two: a pattern, and a function.", got=repr(row))
    rules = PatternMatcher([(UPat.var("v") + UPat.var("v"), lambda v: v * 2), row])
    i, j = Variable("i", 0, 7), Variable("j", 0, 3)
    for case, before, after in (
        ("`i + i + i`", i + i + i, i * 3),
        ("`j + j + j`", j + j + j, j * 3),
        ("`i + i + j`", i + i + j, i * 2 + j),
    ):
        got = graph_rewrite(before, rules)
        if got is not after:
            texts = [f"`{u.render(simplify=False)}`" for u in (after, got)]
            graphs = Graphs(got, after, {})
            raise Wrong("The rules make something else of it.", case, *texts, graphs=graphs)
    return (
        "Sources are rewritten first: when a row sees the outer `+`, `v + v` is `v * 2` already. "
        "So a row for `v + v + v` would never match."
    )


EXERCISES = (
    Exercise(
        "1.1",
        "why-loops-of-a-sum",
        "Loops of the program",
        predicts(loops_of_a_sum),
        (
            "Does anything have to be complete before something else can begin?",
            "While the first elements are added up, who needs to know the later ones?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "1.2",
        "why-megabytes",
        "Megabytes of three kernels, and of one",
        predicts(megabytes_of_three_and_of_one),
        (
            "A million floats are 4 MB. Count each time that so many are read or written.",
            "`a * b` reads two and writes one; `+ 1` reads one and writes one; the sum reads one. "
            "A single kernel reads two.",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "1.3",
        "why-kernels-of-two",
        "Kernels of two expressions",
        predicts(kernels_of_two),
        (
            "For each: can one loop do all of it?",
            "Before the first division, how much of `a` has to be added up?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "1.4",
        "why-slope-of-a-quotient",
        "The slope of `x / y` by `y`, at 3 / 2",
        slope_of_a_quotient,
        (
            "The row has two parts: what flows to `x`, and what flows to `y`.",
            "The second one, with `grad` 1, `x` 3, `y` 2 and `z` 3 / 2.",
        ),
    ),
    Exercise(
        "1.5",
        "why-row-for-three",
        "A row for `i * 3`",
        row_for_three,
        (
            "What does `i + i + i` look like once the first row has been at its source?",
            "A pattern is written like an expression, and the function gets `v` by its name. One "
            "multiplication and one addition are left to match.",
        ),
    ),
)
