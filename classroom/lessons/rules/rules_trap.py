"""A pair that never ends

Hint: Think of two ways to write the same thing, each of which somebody might find nicer.
Hint: Doubling: `x + x` and `x * 2`. Or factoring: `x * y + x * z` and `x * (y + z)`. One row for
each direction, and an expression to start from.
Because: Each row alone runs out of places to fire. Together, each makes what the other is looking
for.
Right: Each of your rows is right, each ends, and together they never do. A compiler's tables have
hundreds of rows, by many authors. That's why somebody counts the steps.
"""

from collections.abc import Iterator, Mapping

from classroom.added import table_of
from classroom.exercise import Wrong, wrong_if
from classroom.lessons.rules.shared import given, refuse_lie
from classroom.lies import written
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, graph_rewrite
from tinyframe.rewrite.matcher import record
from tinyframe.uop import UOp


def check(answer) -> None:
    """answer(i, j): two rows, and an expression that they never finish, though each alone would."""
    answer = given(answer, UOp.variable("i", 0, 7), UOp.variable("j", 0, 3))
    if isinstance(answer, Mapping) or not hasattr(answer, "__len__") or len(answer) not in (2, 3):
        raise Wrong("The answer has to be three things: a row, another one, and an expression.")
    *rows, expression = answer
    if not isinstance(expression, UOp):
        last = "third" if len(answer) == 3 else "last"
        text = f"The answer has to be three things, and the {last} has to be an expression, a UOp."
        raise Wrong(text, got=type(expression).__name__)
    both = PatternMatcher([rule for row in rows for rule in table_of(row)])
    wrong_if(len(both) != 2, f"Two rows are asked for. You gave {len(both)}.")
    case = f"`{written(expression)}`"
    for name, rule in zip(("first", "second"), both, strict=True):
        alone = PatternMatcher([rule])
        for root in (expression, *after_one_step(expression, both)):
            try:
                graph_rewrite(root, alone)
            except RewriteLoopError:
                raise Wrong(f"The {name} row never ends even by itself. It takes two to make a "
                            "trap.", f"`{written(root)}`") from None  # fmt: skip
    with record() as passes:
        try:
            after = graph_rewrite(expression, both)
        except RewriteLoopError:
            pass
        else:
            fired = len(passes[0].steps)
            words = "Neither row fired." if not fired else f"They end, after {times(fired)}."
            raise Wrong(words, case, got=f"`{written(after)}`")
    for step in passes[0].steps[:20]:
        refuse_lie(step.before, step.after)


def after_one_step(expression: UOp, table: PatternMatcher) -> Iterator[UOp]:
    """What an expression is after each row has had one turn."""
    for u in expression.toposort():
        for rule in table:
            after = PatternMatcher([rule]).rewrite(u)
            if after is not None:
                yield expression.substitute({u: after})


def times(number: int) -> str:
    return "one rewrite" if number == 1 else f"{number} rewrites"

# %% shared
from tinyframe import Variable
from tinyframe.rewrite import PatternMatcher, UPat
x, y, z, v = (UPat.var(name) for name in "xyzv")
m, n = Variable("m", 0, 9), Variable("n", 0, 5)
DOUBLE = (x + x, lambda x: x * 2)
HALVE = (x * 2, lambda x: x + x)

# %% wrong, each line
(DOUBLE, HALVE, m * 3)  # says Neither row fired
((x + 1, lambda x: x * 2), (x * 2, lambda x: x + 1), m + 1)  # says That's a lie
(DOUBLE, HALVE)  # says has to be three things
(DOUBLE, HALVE, m + m, n + n)  # says a row, another one, and an expression
(DOUBLE, m + m)  # says You gave 1

# %% wrong: says never ends even by itself
def trap(i, j):
    z = UPat.var("z")
    left = ((x + y) + z, lambda x, y, z: x + (y + z))
    right = (x + (y + z), lambda x, y, z: (x + y) + z)
    return left, right, i + j + 3

# %% right, each line
(DOUBLE, HALVE, m + m)
