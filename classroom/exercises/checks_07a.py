"""Part 7a, the rules: the exercises, and what an answer has to do."""

from __future__ import annotations

import inspect
import itertools
import operator
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from classroom.added import STAGE, added, described, table_of, work
from classroom.ask import call, fresh_sizes, predicts, wants
from classroom.exercise import Exercise, Wrong
from classroom.lies import FLOATS, differ, lie, number, shown, written
from classroom.obvious import TEN, lie_of, safe_rules, tried_on
from tinyframe import Context, Tensor
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, Rule, UPat, graph_rewrite
from tinyframe.rewrite.matcher import Step, record
from tinyframe.uop import GroupOp, Ops, UOp

# ---- what the predictions are about, done for real ----------------------------------------------

v, c, d = UPat.var("v"), UPat.cvar("c"), UPat.cvar("d")
ADDING_UP = PatternMatcher(
    [
        (v + v, lambda v: v * 2),
        (v * c + v, lambda v, c: v * (c.arg + 1)),
        (v * c * d, lambda v, c, d: v * (c.arg * d.arg)),
    ]
)


def rewrites_of_two_sums() -> tuple[int, int]:
    """How often a rule of ADDING_UP fires for eight i, one after another and in pairs."""
    i = UOp.variable("i", 0, 9)
    pair = i + i
    return tuple(  # type: ignore[return-value]
        len(steps_of(total, ADDING_UP)) for total in (sum([i] * 7, i), pair + pair + (pair + pair))
    )


def steps_of(root: UOp, table: PatternMatcher) -> list[Step]:
    """What a table does to a graph, step by step."""
    with record() as passes:
        graph_rewrite(root, table)
    return passes[0].steps


def work_of_four() -> tuple[int, ...]:
    x = Tensor(np.arange(4, dtype=np.float32)).realize()
    counts = [work(x * 1 + 0).total()]
    with Context(NOOPT=0):
        counts += [work(y).total() for y in (x * 1 + 0, x * 0 + 1, x - x)]
    return tuple(counts)


# ---- what a table makes of a graph ---------------------------------------------------------------


def given(answer: Any, *inputs: Any) -> Any:
    """What the learner's function gives; or the answer itself, if somebody passed that."""
    if isinstance(answer, (tuple, list, PatternMatcher, Rule)) or hasattr(answer, "__next__"):
        return answer
    if callable(answer) and not inputs and needs_inputs(answer):
        return answer  # a part of the answer, so that it can be told so
    return call(answer, *inputs)


def needs_inputs(function: Callable[..., Any]) -> bool:
    with suppress(TypeError, ValueError):
        parameters = inspect.signature(function).parameters.values()
        return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    return False


def applied(table: PatternMatcher, root: UOp) -> UOp:
    """What a table makes of a graph in the end; Wrong where there is no end, or no UOp."""
    try:
        after = graph_rewrite(root, table)
    except RewriteLoopError:
        text = "Your rules never stop. What does the result of one match again?"
        raise Wrong(text, f"`{written(root)}`") from None
    return after


def refuse_lie(before: UOp, after: UOp) -> None:
    """Wrong if what a table made of an expression has a different value somewhere."""
    if (found := lie(before, after)) is not None:
        where = f", for {found.where()}" if found.values else ""
        raise Wrong(
            f"That's a lie{where}.",
            f"`{written(before)}` became `{written(after)}`",
            expected=shown(found.honest),
            got=shown(found.other),
        )


# ---- ten obvious rules --------------------------------------------------------------------------


def caught(answer: Any) -> str:
    """answer: for the number of each rule that lies for floats, an x or an (x, y) that shows it."""
    if not isinstance(answer, Mapping):
        raise Wrong(
            "The answer has to be a dict: `{3: inf, …}`, from the number of a rule to an x, or to "
            "a pair (x, y).",
            got=type(answer).__name__,
        )
    given = {number: value for number, value in answer.items() if value is not ...}
    if odd := [number for number in given if number not in range(1, len(TEN) + 1)]:
        raise Wrong(f"There are ten rules, 1 to 10, and no rule {odd[0]!r}.")
    for n, value in sorted(given.items()):
        rule = TEN[int(n) - 1]
        found = tried_on(rule, value)
        if found is None:
            wanted = "a pair (x, y) of numbers" if rule.takes_two else "a number"
            raise Wrong(f"Rule {n} needs {wanted}.", f"`{rule.text}`", got=repr(value))
        before, after, said = found
        if not differ(before, after):
            if lie_of(rule, False) is None:
                raise Wrong(
                    f"Rule {n} holds for every float, as far as anybody knows. Leave it out.",
                    f"`{rule.text}`, for {said}",
                    more=(("both sides", shown(before)),),
                )
            raise Wrong(
                f"Here rule {n} tells the truth. It lies elsewhere.",
                f"`{rule.text}`, for {said}",
                more=(("both sides", shown(before)),),
            )
    missing = [n for n, rule in enumerate(TEN, 1) if lie_of(rule, False) and n not in given]
    if missing:
        some = f"rule {missing[0]}" if len(missing) == 1 else f"rules {listed(missing)}"
        raise Wrong(f"What you have is right. Nobody has caught {some} yet.")
    return "Seven of the ten, caught in the act. The next cell draws your evidence."


def listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}"


# ---- a row --------------------------------------------------------------------------------------


def largest(answer: Any) -> str:
    """answer(): a row that makes x.maximum(y) of where(x < y, y, x), of whole numbers."""
    table = table_of(given(answer))
    i, j, k = (UOp.variable(name, -n, 9) for n, name in enumerate("ijk", 2))
    p, q = number("p"), number("q")
    s, t = (UOp.variable(name, 0, 9, dtypes.uint8) for name in "st")
    n, m = random.sample(range(3, 20), 2)
    for x, y in ((i, j), (j * 2, i + 1), (k, k.const_like(4)), (i * n + j, k * m), (s, t)):
        before = (x < y).where(y, x)
        after = table.rewrite(before)
        if after is None:
            small = ", with s and t of dtype uint8, which are whole numbers, too" * (x is s)
            raise Wrong("Your row doesn't fire here.", f"`{written(before)}`{small}")
        wants(after, UOp, "a UOp", f"`{written(before)}`")
        refuse_lie(before, after)
        if any(u.op is Ops.WHERE for u in after.toposort()):
            raise Wrong(
                "There's still a WHERE in it.", f"`{written(before)}`", got=f"`{written(after)}`"
            )
    for before in ((i < j).where(i, j), (i < j).where(j, k), (i < j).where(k, i)):
        if (after := table.rewrite(before)) is not None:
            refuse_lie(before, after)
    floats = (p < q).where(q, p)
    if (after := table.rewrite(floats)) is not None:
        found = lie(floats, after)
        said = "" if found is None else f" For {found.where()}, it lies."
        raise Wrong(
            f"It fires for floats as well.{said} UPat.var takes the dtypes that may match as its "
            "second argument.",
            f"`{written(floats)}`, with floats p and q",
        )
    return (
        "It fires where it should, with constants and with sums in the holes, and it leaves "
        "minima and floats alone."
    )


# ---- rules that undo each other -----------------------------------------------------------------


def trap(answer: Any) -> str:
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
    if len(both) != 2:
        raise Wrong(f"Two rows are asked for. You gave {len(both)}.")
    case = f"`{written(expression)}`"
    for name, rule in zip(("first", "second"), both, strict=True):
        alone = PatternMatcher([rule])
        for root in (expression, *after_one_step(expression, both)):
            try:
                graph_rewrite(root, alone)
            except RewriteLoopError:
                raise Wrong(
                    f"The {name} row never ends even by itself. It takes two to make a trap.",
                    f"`{written(root)}`",
                ) from None
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
    return (
        "Each of your rows is right, each ends, and together they never do. A compiler's tables "
        "have hundreds of rows, by many authors. That's why somebody counts the steps."
    )


def after_one_step(expression: UOp, table: PatternMatcher) -> Iterator[UOp]:
    """What an expression is after each row has had one turn."""
    for u in expression.toposort():
        for rule in table:
            after = PatternMatcher([rule]).rewrite(u)
            if after is not None:
                yield expression.substitute({u: after})


def times(number: int) -> str:
    return "one rewrite" if number == 1 else f"{number} rewrites"


# ---- bounds -------------------------------------------------------------------------------------

OPS: dict[Ops, tuple[str, Callable[[int, int], int]]] = {
    Ops.ADD: ("+", operator.add),
    Ops.SUB: ("-", operator.sub),
    Ops.MUL: ("*", operator.mul),
    Ops.MAX: ("max", max),
    Ops.MOD: ("%", operator.mod),
}


def bounds(answer: Any) -> str:
    """answer(op, x, y): the bounds of x op y, where x and y are pairs of bounds."""
    cases = [
        (Ops.ADD, (0, 3), (1, 5)), (Ops.SUB, (0, 3), (1, 5)), (Ops.MUL, (2, 3), (1, 5)),
        (Ops.MUL, (-2, 3), (-7, 5)), (Ops.MAX, (0, 9), (4, 6)), (Ops.MOD, (0, 9), (4, 4)),
        (Ops.MOD, (0, 2), (4, 4)), (Ops.MOD, (5, 7), (4, 4)), (Ops.MOD, (-2, 2), (4, 4)),
        (Ops.MOD, (-7, -6), (4, 4)), (Ops.MOD, (3, 5), (4, 4)),
    ]  # fmt: skip
    for op, x, y in cases:
        one_bound(answer, op, x, y)
    for _ in range(60):
        op = random.choice(list(OPS))
        (a, b), (c, d) = (sorted(random.choices(range(-12, 13), k=2)) for _ in range(2))
        n = random.randint(1, 9)
        one_bound(answer, op, (a, b), (n, n) if op is Ops.MOD else (c, d))
    return (
        "Never too narrow, never wider than it has to be, on negative numbers, too. A compiler "
        "with that function knows things about your program that you never told it."
    )


def one_bound(answer: Any, op: Ops, x: tuple[int, int], y: tuple[int, int]) -> None:
    sign, function = OPS[op]
    case = f"`{op}`, {x}, {y}"
    got = call(answer, op, x, y)
    pair = list(got) if hasattr(got, "__len__") or isinstance(got, Iterator) else [got]
    if len(pair) != 2 or not all(isinstance(one, (int, float, np.number)) for one in pair):
        raise Wrong("The answer has to be a pair of numbers.", case, got=repr(got))
    low, high = pair
    values = {
        (p, q): function(p, q)
        for p, q in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1))
    }
    for (p, q), value in values.items():
        if not low <= value <= high:
            text = f"max({p}, {q})" if op is Ops.MAX else f"{p} {sign} {signed(q)}"
            raise Wrong(f"That has to be wider: {text} is {value}.", case, got=(low, high))
    best = min(values.values()), max(values.values())
    if (low, high) != best:
        raise Wrong(
            "That's true, but wider than it has to be. Whatever is too wide keeps a division in "
            "the program.",
            case,
            expected=best,
            got=(low, high),
        )


def signed(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


# ---- strength reduction -------------------------------------------------------------------------


def cheaper(answer: Any) -> str:
    """answer(): rows that make shifts and masks of divisions by powers of two."""
    table = table_of(given(answer))
    i, j, n = UOp.variable("i", -40, 40), UOp.variable("j", 0, 50), random.choice((16, 32, 64))
    k = UOp.variable("k", -9, 200)
    slow = {Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD}
    for before in (j // 8, j % 8, i // 4, i % 4, (i * 3 + j) // 16, (j + 1) % 2, k // n, k % n):
        after = applied(table, before)
        refuse_lie(before, after)
        if left := [u for u in after.toposort() if u.op in slow]:
            raise Wrong(f"There's still {a_or_an(left[0].op.name)} in it.",
                        f"`{written(before)}`", got=f"`{written(after)}`")  # fmt: skip
    for before in (j // 6, j % 12, i // -8, i % -8, i // 0, i % 0, i // 1, i % 1, i // j, i // 3):
        refuse_lie(before, applied(table, before))
    for x in (j, i):
        for value in (8, 2, 6):
            before = x.alu(Ops.CDIV, x.const_like(value))
            after = applied(table, before)
            found = lie(before, after)
            if found is not None:
                raise Wrong(
                    f"C's division rounds towards zero, so for {found.where()} that's a lie. When "
                    "is it sure that both divisions agree? `x.vmin` knows.",
                    f"`{written(before)}` became `{written(after)}`",
                    expected=shown(found.honest),
                    got=shown(found.other),
                )
            if x is j and value != 6 and any(u.op in slow for u in after.toposort()):
                raise Wrong(
                    "This is C's division, and `j` is never negative. A shift would do.",
                    f"`{written(before)}`, for j from 0 to 50",
                    got=f"`{written(after)}`",
                )
    return "Every division that can become a shift or a mask did, and none that can't."


def a_or_an(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


# ---- a rule of one's own ------------------------------------------------------------------------

CONSTANTS = (0.1, 3.0, -2.0, 0.0, 1e30, 1e-30, 0.5, 1.0, 2.0, -1.0)
MOST_SITES = 3  # places where a rule fired that are tried with other constants


def own_rule(answer: Any) -> str:
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
        raise Wrong(
            "Your rule never fired. What does the graph of your expression look like, where it "
            "should?",
            got=described(before),
        )
    right = call(expression, x).numpy()
    for place, (one, other) in enumerate(zip(right.ravel(), changed.ravel(), strict=True)):
        if differ(one.item(), other.item()) and one != other:
            where = f"for x = {shown(values[place].item())} " * (right.shape == values.shape)
            raise Wrong(
                f"Your rule fired, and {where}it changed the result.",
                expected=shown(one.item()),
                got=shown(other.item()),
            )
    refuse_rule_that_lies(fired)
    if after.total() >= before.total():
        raise Wrong(
            f"Your rule fired {how_often(len(fired))}, and lies nowhere that I looked. But the "
            "kernel isn't any smaller.",
            expected=f"fewer than {described(before)}",
            got=described(after),
        )
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
                raise Wrong(
                    f"On your own expression it's right. But it would also fire here, and lie"
                    f"{where}.",
                    f"`{written(changed)}` would become `{written(after)}`",
                    expected=shown(found.honest),
                    got=shown(found.other),
                )


def without_memory(root: UOp) -> UOp:
    """A value, with a variable in place of whatever isn't arithmetic: what is read, or summed."""
    inside = root.toposort(gate=lambda u: u.op in GroupOp.Elementwise)
    leaves = [u for u in inside if u.op not in GroupOp.Elementwise and u.op is not Ops.CONST]
    floats = [u for u in leaves if dtypes.is_float(u.dtype)]
    names = {u: number(f"x{n}" if n else "x") for n, u in enumerate(floats)}
    for n, u in enumerate(u for u in leaves if dtypes.is_int(u.dtype)):
        names[u] = UOp.variable(f"i{n}", -9, 9, u.dtype)
    return root.substitute(names)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "7.1",
        "rules-safe-of-ten",
        "Which obvious rules are safe",
        predicts(safe_rules),
        (
            "What are the strangest numbers that a float can be? Take each rule and try them: 0, "
            "-0, infinity, NaN, very large, very small.",
            "An addition of floats rounds, and a product can overflow. Whole numbers wrap around, "
            "which is kinder than it sounds: an addition and a subtraction still cancel.",
        ),
        shown_by="the next cell",
        because="For floats, only x * 1, x + x and x < x survive infinities, NaN, signed zeros and "
        "rounding. For whole numbers eight do: wrapping around undoes itself in (x + y) - y, but "
        "x * 2 // 2 loses its top bit, and 0 // 0 isn't 1.",
    ),
    Exercise(
        "7.2",
        "rules-caught",
        "Catch them lying",
        caught,
        (
            "Infinity catches more than one of them, and so does 0. Which of the ten only have to "
            "fear large numbers, or two numbers of very different size?",
            "Rule 1 needs -0.0. Rule 7 needs a small x and a large y; rule 8 an x near the largest "
            "float, 3.4e38; and rule 10 a NaN.",
        ),
        because="-0.0 + 0 is 0.0. Infinity times 0, and infinity minus itself, are NaN, and so is "
        "0 / 0. 1 + 1e8 rounds to 1e8. 3e38 * 2 is infinity. And NaN isn't below 0, nor is 0 at "
        "most NaN.",
    ),
    Exercise(
        "7.3",
        "rules-largest",
        "A row for the larger of two",
        largest,
        (
            "The pattern is built like the expression itself, with UPats in place of the numbers. "
            "Which names occur twice in it?",
            '`UPat.var("x", dtypes.ints)` matches whole numbers only. Then `(x < y).where(y, x)` '
            "is the pattern, and the function gets x and y.",
        ),
        because="A name that occurs twice has to meet the same node twice, which is what tells a "
        "maximum from any other choice. And with a NaN the WHERE isn't a maximum, so the row is "
        "for whole numbers.",
    ),
    Exercise(
        "7.4",
        "rules-count-rewrites",
        "How often rules fire",
        predicts(rewrites_of_two_sums),
        (
            "Each node is done after its sources. What has the left side of each ADD become when "
            "its turn comes?",
            "In pairs, there are only three ADD nodes, since equal nodes are one. After the first, "
            "each ADD gives a product of a product: one more rewrite.",
        ),
        shown_by="the next cell",
        because="One after another, there are seven ADDs, and each becomes a product in one step. "
        "In pairs there are three different ADDs; the second and third become (i * 2) * 2 and "
        "(i * 4) * 2, so the third row has to fire twice: 3 + 2.",
    ),
    Exercise(
        "7.5",
        "rules-trap",
        "A pair that never ends",
        trap,
        (
            "Think of two ways to write the same thing, each of which somebody might find nicer.",
            "Doubling: `x + x` and `x * 2`. Or factoring: `x * y + x * z` and `x * (y + z)`. One "
            "row for each direction, and an expression to start from.",
        ),
        because="Each row alone runs out of places to fire. Together, each makes what the other is "
        "looking for.",
    ),
    Exercise(
        "7.6",
        "rules-bounds",
        "Bounds",
        bounds,
        (
            "Where does `x * y` have its smallest value, if both may be negative? And when does "
            "`x % 4` skip some of 0 to 3?",
            "For `*` try all four corners. For `%`: if both ends of x have the same quotient, "
            "`low // n == high // n`, the remainder just goes up from `low % n` to `high % n`. "
            "Otherwise it's 0 to n - 1.",
        ),
        because="+ , -, max and * have their extremes at the corners, since they rise or fall in "
        "each side. A remainder goes up and starts again at 0, unless x stays between two "
        "multiples of n.",
    ),
    Exercise(
        "7.7",
        "rules-cheaper",
        "Divisions become shifts",
        cheaper,
        (
            "What do `>> 3` and `& 7` do to the bits of 29, and to those of -3? When is "
            "`c & (c - 1)` 0?",
            "`x >> (c.arg.bit_length() - 1)` and `x & (c.arg - 1)`, if c is a power of two above "
            "0, else None. For CDIV, whose pattern is `UPat(Ops.CDIV, src=(x, c))`, ask for "
            "`x.vmin >= 0`, too.",
        ),
        because="`>>` rounds down, just as `//` does, below zero too. C's division rounds towards "
        "zero, so it's the same only where nothing is negative; and 0 isn't a power of two, "
        "although 0 & -1 is 0.",
    ),
    Exercise(
        "7.8",
        "rules-folding",
        "What's left of four expressions",
        predicts(work_of_four),
        (
            "Which of these are the obvious rules that hold, or that tinyframe bends? And what "
            "does NOOPT say that it leaves as written?",
            "`x * 0` and `x - x` may be NaN, so a compiler that doesn't lie has to compute them.",
        ),
        shown_by="the next cell",
        because="NOOPT leaves each kernel's *loops* as written. Rules like x * 1 → x have fired "
        "long before anybody does something to loops. x * 0 and x - x could be NaN, so they stay.",
    ),
    Exercise(
        "7.9",
        "rules-own",
        "A rule that tinyframe hasn't got",
        own_rule,
        (
            "What would somebody write twice by accident? Limits on limits, signs on signs, a "
            "scale on a scale. `work(…)` says whether tinyframe noticed.",
            "`max(max(x, c), d)` is `max(x, max(c, d))`, and the inner one can be computed now. "
            "With `v = UPat.var(\"v\")` and `c`, `d` from `UPat.cvar`, the pattern is "
            "`v.alu(Ops.MAX, c).alu(Ops.MAX, d)`.",
        ),
        because="Two limits are one limit, the larger one, even if x is NaN. A product of two "
        "constants would not do: x * 0.1 * 3 rounds twice, and x * 0.3 once.",
        seconds=30,
    ),
)  # fmt: skip
