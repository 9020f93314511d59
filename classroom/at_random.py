"""Expressions that nobody would write, before and after tinyframe's rules have been at them.

    rules_tried(1000)    # how much smaller they get, and which of them changed its value, if any
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from classroom.lies import Lie, candidates, differ, number, variables_of, written
from tinyframe.dtype import DType, dtypes
from tinyframe.uop import Ops, UOp
from tinyframe.uop.evaluate import evaluate

VALUES = 16  # sets of values that each expression is tried with
DEEPEST = 5
WHOLE = [UOp.variable(*row) for row in (("i", 0, 7), ("j", 0, 3), ("k", -3, 4), ("n", 0, 2**28))]
REAL = [number("x"), number("y")]
CONSTANTS = {dtypes.int: (-3, -1, 0, 1, 2, 3, 4, 6, 8, 12, 100, 2**28),
             dtypes.float: (-1.0, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 8.0)}  # fmt: skip
NARROW = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.int64)


@dataclass(frozen=True)
class RulesTried:
    """What became of random expressions. wrong: one whose value changed, if any did, and where."""

    count: int
    nodes: int
    nodes_after: int
    wrong: tuple[UOp, UOp, Lie] | None

    def __repr__(self) -> str:
        sizes = f"{self.nodes:,} nodes before the rules, {self.nodes_after:,} after them"
        whole = f"{self.count:,} expressions: {sizes}."
        if self.wrong is None:
            return f"{whole} None of them changed its value."
        before, after, found = self.wrong
        return (f"{whole}\n{written(before)}\nhas become\n{written(after)}\nand where "
                f"{found.where()}, that's {found.other} and not {found.honest}.")  # fmt: skip


def rules_tried(count: int, seed: int = 7) -> RulesTried:
    """Simplifies so many expressions, and computes each before and after with the same values."""
    dice = random.Random(seed)
    nodes = nodes_after = 0
    wrong = None
    for number_of in range(count):
        before = drawn(dice, dtypes.float if number_of % 4 == 0 else dtypes.int, DEEPEST)
        after = before.simplify()
        nodes, nodes_after = nodes + len(before.toposort()), nodes_after + len(after.toposort())
        wrong = wrong or lie_at_random(dice, before, after)
    return RulesTried(count, nodes, nodes_after, wrong)


def lie_at_random(dice: random.Random, before: UOp, after: UOp) -> tuple[UOp, UOp, Lie] | None:
    variables = variables_of(before)
    for _ in range(VALUES):
        values = {variable: dice.choice(candidates(variable)) for variable in variables}
        honest, other = evaluate(before, values), evaluate(after, values)
        if differ(honest, other):
            return before, after, Lie(values, honest, other)
    return None


def drawn(dice: random.Random, dtype: DType, depth: int) -> UOp:
    """An expression of this dtype that is at most so deep."""
    if depth == 0 or dice.random() < 0.1:
        if dice.random() < 0.35:
            return UOp.const(dtype, dice.choice(CONSTANTS[dtype]))
        return dice.choice(REAL if dtype is dtypes.float else WHOLE)
    return dice.choice(FORMS[dtype])(dice, dtype, depth - 1)


def two(op: Callable[[UOp, UOp], UOp]) -> Callable[[random.Random, DType, int], UOp]:
    """A form: this op of two expressions."""
    return lambda dice, dtype, depth: op(drawn(dice, dtype, depth), drawn(dice, dtype, depth))


def by_constant(op: Callable[[UOp, UOp], UOp]) -> Callable[[random.Random, DType, int], UOp]:
    """A form: this op of an expression and a constant that isn't 0."""

    def made(dice: random.Random, dtype: DType, depth: int) -> UOp:
        constants = [value for value in CONSTANTS[dtype] if value]
        return op(drawn(dice, dtype, depth), UOp.const(dtype, dice.choice(constants)))

    return made


def chosen(dice: random.Random, dtype: DType, depth: int) -> UOp:
    asked = dice.choice((dtypes.int, dtypes.int, dtypes.float))
    less = drawn(dice, asked, depth) < drawn(dice, asked, depth)
    return less.where(drawn(dice, dtype, depth), drawn(dice, dtype, depth))


def through_another_dtype(dice: random.Random, dtype: DType, depth: int) -> UOp:
    return drawn(dice, dtype, depth).cast(dice.choice(NARROW)).cast(dtype)


FORMS: dict[DType, list[Callable[[random.Random, DType, int], UOp]]] = {
    dtypes.int: [
        two(lambda a, b: a + b), two(lambda a, b: a - b), two(lambda a, b: a.maximum(b)),
        *[by_constant(lambda a, c: a * c)] * 2, *[by_constant(lambda a, c: a // c)] * 4,
        *[by_constant(lambda a, c: a % c)] * 3, by_constant(lambda a, c: a.alu(Ops.CDIV, c)),
        by_constant(lambda a, c: a.alu(Ops.CMOD, c)), chosen, through_another_dtype,
    ],
    dtypes.float: [
        two(lambda a, b: a + b), two(lambda a, b: a * b), two(lambda a, b: a - b),
        two(lambda a, b: a.maximum(b)), by_constant(lambda a, c: a / c), chosen,
    ],
}  # fmt: skip
