"""A row for `i * 3`

Hint: What does `i + i + i` look like once the first row has rewritten its source?
Hint: By then it is `i * 2 + i`. Write a pattern for that, with `v` in place of `i`, and a
function of `v`.
Because: `i + i + i` means `(i + i) + i`. Sources go first, so the first row has turned it into `i
* 2 + i` by the time your row sees it.
Right: Sources are rewritten first, so when a row gets to see the outer `+`, `v + v` is `v * 2`
already. A row for `v + v + v` would never match.
"""

import inspect
import random

from classroom.ask import Wrong, call, describe
from classroom.exercise import Graphs
from tinyframe import Variable
from tinyframe.rewrite.matcher import RewriteLoopError
from tinyframe.uop import UOp
from tinyframe.uop.ops import PatternMatcher, UPat, graph_rewrite


def check(answer) -> None:
    """answer(v): a row that makes v * 3 of what is left of v + v + v."""
    i, j = Variable("i", 0, 7), Variable("j", 0, 3)
    row = call(answer, UPat.var("v"))
    row = tuple(row) if isinstance(row, list) else row
    if not (isinstance(row, tuple) and len(row) == 2):
        raise Wrong("A row is a tuple of two: a pattern, and a function.", got=describe(row))
    if not isinstance(row[0], UPat):
        raise Wrong("The first half of a row has to be a pattern: write it with `v`.")
    if isinstance(row[1], UPat) or not callable(row[1]):
        raise Wrong("The second half of a row has to be a function: `lambda v: …`.")
    for bound in row[0].match(i * 2 + i, {})[:1]:
        try:
            inspect.signature(row[1]).bind(**bound)
        except TypeError:
            said = "The function is given what the pattern names, by these names"
            raise Wrong(f"{said}: `lambda {', '.join(sorted(bound))}: …`.") from None
    rules = PatternMatcher([(UPat.var("v") + UPat.var("v"), lambda v: v * 2), row])
    for case, before, after in (
        ("`i + i + i`", i + i + i, i * 3),
        ("`j + j + j`", j + j + j, j * 3),
        ("`i + i + j`", i + i + j, i * 2 + j),
    ):
        try:
            got = graph_rewrite(before, rules)
        except RewriteLoopError:
            raise Wrong("This never ends: what your row returns is matched again, by it or by the "
                        "row for `v + v`, over and over.", case) from None  # fmt: skip
        if got not in (after, _turned(after)):
            texts = [f"`{u.render(simplify=False)}`" for u in (after, got)]
            said = "Your row turns it into something with a different value."
            if got is graph_rewrite(before, PatternMatcher(rules.rules[:1])):
                said = "Your row does not match it: nothing changed after the row for `v + v`."
            elif _same_value(got, after, i, j):
                said = "Its value is right, but it isn't written with a single multiplication yet."
            raise Wrong(said, case, *texts, graphs=Graphs(got, after, {}))


def _turned(u: UOp) -> UOp:
    """The same with its two sources in the other order: 3 * i."""
    return u.replace(src=u.src[::-1])


def _same_value(one: UOp, other: UOp, *counters: UOp) -> bool:
    """Whether two expressions agree for a few values of the counters."""
    places = [[random.randrange(1, 100) for _ in counters] for _ in range(5)]
    return all(_value(one, c, p) == _value(other, c, p) for p in places for c in [counters])


def _value(u: UOp, counters: tuple[UOp, ...], place: list[int]) -> object:
    """What an expression is where the counters have these values; itself if that is no number."""
    put = {c: c.const_like(v) for c, v in zip(counters, place, strict=True)}
    return u.substitute(put).simplify().arg

# %% wrong, each line
lambda v: (v + v + v, lambda v: v * 3)  # says does not match
lambda v: v * 2 + v  # says a tuple of two
lambda v: (v * 2 + v, v * 3)  # says be a function
(UPat.var('v') * 2 + UPat.var('v'), lambda v: v * 3)  # a row, where a function was asked for
lambda v: (v * 2 + v, lambda x: x * 3)  # says by these names: `lambda v: …`
lambda v: (v * 2 + v, lambda v: v + v + v)  # says never ends

# %% wrong: says write it with `v`
from tinyframe import Tensor, Variable
lambda v: (Variable("i", 0, 7) * 3, lambda v: v * 3)

# %% right, each line
lambda v: (v + v * 2, lambda v: v * 3)
