"""A rule that tinyframe hasn't got

Hint: What would somebody write twice by accident? Limits on limits, signs on signs, a scale on a
scale. `work(…)` says whether tinyframe noticed.
Hint: `max(max(x, c), d)` is `max(x, max(c, d))`, and the inner one can be computed now. With `v =
UPat.var("v")` and `c`, `d` from `UPat.cvar`, the pattern is `v.alu(Ops.MAX, c).alu(Ops.MAX, d)`.
Because: Two limits are one limit, the larger one, even if x is NaN. A product of two constants
would not do: x * 0.1 * 3 rounds twice, and x * 0.3 once.
"""

import itertools
from collections import Counter
from collections.abc import Mapping

import numpy as np

from classroom.added import STAGE, added, described, table_of, work
from classroom.ask import Wrong, call, fresh_sizes, wants
from classroom.lessons.rules.shared import given
from classroom.lies import FLOATS, differ, lie, number, shown, written
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, Rule
from tinyframe.rewrite.matcher import Step, record
from tinyframe.uop import GroupOp, Ops, UOp

SECONDS = 30


CONSTANTS = (0.1, 3.0, -2.0, 0.0, 1e30, 1e-30, 0.5, 1.0, 2.0, -1.0)


MOST_SITES = 3  # places where a rule fired that are tried with other constants


def check(answer) -> str:
    """answer(): an expression, a function of a Tensor, and rows that make its kernel smaller."""
    answer = given(answer)
    if isinstance(answer, Mapping) or not hasattr(answer, "__len__") or len(answer) != 2:
        raise Wrong("The answer has to be two things: a function of a Tensor, and your rows.")
    expression, rows = answer
    if callable(rows) and not callable(expression):
        expression, rows = rows, expression
    table = table_of(rows)
    (size,) = fresh_sizes(1)
    dice = np.random.default_rng()
    values = np.array([*FLOATS, *dice.normal(0, 3, size)], np.float32)
    x = Tensor(values).realize()
    y = call(expression, x)
    wants(y, Tensor, "a function that gives a Tensor")
    before = work(y)
    with added(table):
        try:
            with record() as passes:
                after = work(call(expression, x))
        except RewriteLoopError:
            raise Wrong("With your rule in it, the compiler never comes to an end.") from None
        fired = [step for p in passes if p.name == STAGE for step in p.steps]
        changed = call(expression, x).numpy()
    if not fired:
        raise Wrong("Your rule never fired. What does the graph of your expression look like, "
                    "where it should?", got=described(before))  # fmt: skip
    right = call(expression, x).numpy()
    for place, (one, other) in enumerate(zip(right.ravel(), changed.ravel(), strict=True)):
        if differ(one.item(), other.item()) and one != other:
            where = f"for x = {shown(values[place].item())} " * (right.shape == values.shape)
            raise Wrong(f"Your rule fired, and {where}it changed the result.",
                        expected=shown(one.item()), got=shown(other.item()))  # fmt: skip
    refuse_rule_that_lies(fired)
    if after.total() >= before.total():
        raise Wrong(f"Your rule fired {how_often(len(fired))}, and lies nowhere that I looked. But "
                    "the kernel isn't any smaller.", expected=f"fewer than {described(before)}",
                    got=described(after))  # fmt: skip
    return (
        f"It fired {how_often(len(fired))}: from {described(before)} for each element down to "
        f"{described(after)}, and every bit of the result is what it was."
    )


def how_often(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def refuse_rule_that_lies(steps: list[Step]) -> None:
    """Wrong if a rule that fired would lie with other constants in its place, or other inputs."""
    seen = Counter[Rule]()
    for step in steps:
        if step.rule is None or seen[step.rule] == MOST_SITES:
            continue
        seen[step.rule] += 1
        root = without_memory(step.before)
        constants = [u for u in root.toposort() if u.op is Ops.CONST and dtypes.is_float(u.dtype)]
        choices = [(u.arg, *CONSTANTS) for u in constants[:3]]
        for values in itertools.product(*choices):
            changed = root.substitute(
                {u: u.replace(arg=value) for u, value in zip(constants, values, strict=False)}
            )
            after = PatternMatcher([step.rule]).rewrite(changed)
            found = None if after is None else lie(changed, after, zeros=False)
            if after is not None and found is not None:
                where = f", for {found.where()}" if found.values else ""
                raise Wrong("On your own expression it's right. But it would also fire here, and "
                            f"lie{where}.", f"`{written(changed)}` would become `{written(after)}`",
                            expected=shown(found.honest), got=shown(found.other))  # fmt: skip


def without_memory(root: UOp) -> UOp:
    """A value, with a variable in place of whatever isn't arithmetic: what is read, or summed."""
    inside = root.toposort(gate=lambda u: u.op in GroupOp.Elementwise)
    leaves = [u for u in inside if u.op not in GroupOp.Elementwise and u.op is not Ops.CONST]
    floats = [u for u in leaves if dtypes.is_float(u.dtype)]
    names = {u: number(f"x{n}" if n else "x") for n, u in enumerate(floats)}
    for n, u in enumerate(u for u in leaves if dtypes.is_int(u.dtype)):
        names[u] = UOp.variable(f"i{n}", -9, 9, u.dtype)
    return root.substitute(names)

# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
x, y, z, v = (UPat.var(name) for name in "xyzv")
c, d = UPat.cvar("c"), UPat.cvar("d")
def two_limits(t):
    return t.maximum(1).maximum(2)

def limits(v, c, d):
    return v.alu(Ops.MAX, v.const_like(max(c.arg, d.arg)))

LIMITS = (v.alu(Ops.MAX, c).alu(Ops.MAX, d), limits)

# %% wrong, each line
(two_limits, (v + v, lambda v: v * 2))  # says never fired
(lambda t: t + t, (v + v, lambda v: v * 2))  # says isn't any smaller
(lambda t: t * 2 * 4, (v * c, lambda v, c: v * c * 1))  # says never comes to an end
two_limits  # says two things
(two_limits, lambda v: v)  # says A row has to be a pair

# %% wrong: says it would also fire here
PRODUCT = (v * c * d, lambda v, c, d: v * (c.arg * d.arg))
(lambda t: t * 2 * 4, PRODUCT)

# %% wrong: says changed the result
def own():
    power = lambda n: 2.0**-20 <= n.arg <= 1 and n.arg.hex().startswith("0x1.0000000000000p")
    e = UPat.cvar("e")
    row = (v * c * e, lambda v, c, e: v * (c.arg * e.arg) if power(c) and power(e) else None)
    return lambda t: t / 2 / 4, row

# %% right, each line
(two_limits, LIMITS)

# %% right
def exact_product(v, c, d):
    good = c.arg >= 1 and d.arg >= 1 and all(a.hex().split("p")[0] == "0x1.0000000000000"
                                             for a in (c.arg, d.arg))
    return v * (c.arg * d.arg) if good and c.arg * d.arg < 1e30 else None
(lambda t: t * 2 * 4, PatternMatcher([(v * c * d, exact_product)]))
