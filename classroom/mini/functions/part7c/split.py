"""Hint: Which two nodes take the place of the old counter, and what's the formula that has all of
its values in the same order? Where else does the old counter stand, apart from places in memory?
Hint: walk the program: the old RANGE becomes outer * size + inner. Then a REDUCE over it has that
sum among its sources, which isn't a RANGE: put outer and inner there instead. simplify at the
end.
Because: Every number below 12 is 4 times something below 3, plus something below 4, in exactly
one way. So the same iterations happen, in the same order.
"""

from typing import Any

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import plain
from classroom.mini.functions.part7b.shared import told
from classroom.mini.functions.part7c.shared import Case, sizes


def split_once(mini, case: Case, number: int, size: int) -> tuple[Any, Any]:
    call = f"split({case.said}, {number}, {size})"
    got = mini.split(case.program, number, size)
    if not (isinstance(got, tuple) and len(got) == 2):
        raise Wrong(f"{call} should give a pair: the program and the inner RANGE.", call,
                    "(program, RANGE)", describe(got))  # fmt: skip
    program, inner = got
    before = sizes(mini, case.program)
    new = max(before) + 1
    wanted = {**before, number: before[number] // size, new: size}
    found = sizes(mini, program)
    wrong_if(found != wanted, f"{call} should leave loops of the sizes {wanted}, by number.", call,
             str(wanted), str(found))  # fmt: skip
    if getattr(inner, "arg", None) != (new, size):
        raise Wrong("The second of the pair is the inner RANGE.", call, f"RANGE of ({new}, {size})",
                    plain(inner) if hasattr(inner, "op") else describe(inner))  # fmt: skip
    replaced = counter_of(mini, case.program, number)
    for reduce, now in zip(reduces(mini, case.program), reduces(mini, program), strict=False):
        ran_over_it = replaced in reduce.src[1:]
        if ran_over_it and (inner not in now.src[1:] or len(now.src) != len(reduce.src) + 1):
            raise Wrong("The REDUCE ran over the old loop, so it runs over both of the new ones.",
                        call, "two RANGEs", ", ".join(map(told, now.src[1:])))  # fmt: skip
    case.expect(call, program)
    (store,), (old,) = program.src, case.program.src
    factor = mini.terms(old.src[1]).get(replaced)
    factors = [mini.terms(store.src[1]).get(counter_of(mini, program, n)) for n in (number, new)]
    wrong_if(factor and factors != [factor * size, factor], "All elements are computed, but in a "
             f"different order: where the old counter stood, outer * {size} + inner should stand.",
             call)  # fmt: skip
    return program, inner


def counter_of(mini, program: Any, number: int) -> Any:
    ranges = [node for node in program.toposort() if node.op is mini.Ops.RANGE]
    return next(node for node in ranges if node.arg[0] == number)


def reduces(mini, program: Any) -> list[Any]:
    return [node for node in program.toposort() if node.op is mini.Ops.REDUCE]


@promise("A loop of 12 is a loop of 3 around a loop of 4, and nothing else changes")
def split_loops(mini) -> None:
    for said in ("a * 2", "a.permute(1, 0) + 1"):
        case = Case(mini, said)
        for number in (0, 1):
            split_once(mini, case, number, 4)


@promise("A REDUCE runs over both loops")
def split_reduce(mini) -> None:
    for said, number in (("a.sum(1)", 1), ("a @ b", 2)):
        split_once(mini, Case(mini, said), number, 2)


@promise("Splitting again works, and so does a kind for the inner loop")
def split_again(mini) -> None:
    case = Case(mini, "a @ b")
    program, _ = mini.split(case.program, 0, 4)
    program, inner = mini.split(program, 1, 8)
    program, _ = mini.split(program, 2, 2)
    case.expect("three splits of a @ b", program)
    _, inner = mini.split(case.program, 1, 8, ("VECTOR",))
    if inner.arg != (3, 8, "VECTOR"):
        raise Wrong("What `kind` holds comes after number and size in the arg of the inner RANGE.",
                    "split(a @ b, 1, 8, ('VECTOR',))", "(3, 8, 'VECTOR')",
                    describe(inner.arg))  # fmt: skip


@promise("What doesn't divide is a ValueError")
def split_uneven(mini) -> None:
    case = Case(mini, "a * 2")
    try:
        got = mini.split(case.program, 0, 5)
    except ValueError:
        return
    raise Wrong("5 does not divide 12: two rows would be left over.", "split(a * 2, 0, 5)",
                "ValueError", describe(type(got).__name__))  # fmt: skip

# %% shared
def rightly(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says should give a pair
def split(program, number, size, kind=()):
    return None

# %% wrong, changed: says two rows would be left over
# -     if old.arg[1] % size:
# +     if False:

# %% wrong, changed: says outer * 4 + inner should stand
# -     both = outer * size + inner
# +     both = inner * (old.arg[1] // size) + outer

# %% wrong, changed: says never stored
# -     both = outer * size + inner
# +     both = outer + inner

# %% wrong, changed: says should leave loops of the sizes
# -     outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
# -     inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
# +     outer = UOp(Ops.RANGE, (), (number, size))
# +     inner = UOp(Ops.RANGE, (), (max(ranges) + 1, old.arg[1] // size))

# %% wrong, changed: says comes after number and size
# -     inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
# +     inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size))

# %% wrong, changed: says so it runs over both of the new ones
# -             pairs = [(outer, inner) if source is both else (source,) for source in node.src]
# +             pairs = [(outer,) if source is both else (source,) for source in node.src]

# %% wrong: says The second of the pair is the inner RANGE
def split(program, number, size, kind=()):
    program, _ = rightly(program, number, size, kind)
    return program, counters(program)[number]

# %% right: REDUCEs first, then the counter; the new counters at the end
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    many, rest = divmod(old.arg[1], size)
    if rest:
        raise ValueError(f"{rest} would be left over")
    outer = UOp(Ops.RANGE, (), (number, many, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    reduces = [n for n in program.toposort() if n.op is Ops.REDUCE and old in n.src[1:]]
    for node in reduces:
        both = [s for s in node.src[1:] if s is not old] + [outer, inner]
        new = UOp(Ops.REDUCE, (node.src[0], *both), node.arg)
        program = substitute(program, {node: new})
    return simplify(substitute(program, {old: outer * size + inner})), inner
