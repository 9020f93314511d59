"""A kernel described in a sentence, from its loops and operations alone.

    sentence((x / x.sum(axis=1, keepdim=True)).schedule()[0].ast)
    # "sums each of 64 rows of 128 numbers; then divides"

A kernel stores values. Each may be computed through reduces, which are told in order, with verbs
for the operations before each reduce and after the last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from tinyframe.rewrite.matcher import UPat
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.uop.show import render

MOST_VERBS = 4  # per step: more operations are only counted

VERBS: dict[Ops, str] = {
    Ops.ADD: "adds", Ops.SUB: "subtracts", Ops.MUL: "multiplies", Ops.FDIV: "divides",
    Ops.IDIV: "divides, rounding down", Ops.CDIV: "divides, rounding to 0",
    Ops.MOD: "takes remainders", Ops.CMOD: "takes remainders", Ops.FMOD: "takes remainders",
    Ops.NEG: "negates", Ops.RECIP: "takes reciprocals", Ops.SQRT: "takes square roots",
    Ops.EXP2: "raises 2 to each", Ops.LOG2: "takes logarithms to base 2", Ops.SIN: "takes sines",
    Ops.COS: "takes cosines", Ops.TRUNC: "cuts off fractions", Ops.POW: "raises to powers",
    Ops.MAX: "takes the larger", Ops.MIN: "takes the smaller", Ops.CMPLT: "compares",
    Ops.CMPLE: "compares", Ops.CMPNE: "compares", Ops.CMPEQ: "compares", Ops.WHERE: "chooses",
    Ops.AND: "combines bits", Ops.OR: "combines bits", Ops.XOR: "combines bits",
    Ops.SHL: "shifts bits", Ops.SHR: "shifts bits", Ops.THREEFRY: "makes random bits",
    Ops.MULACC: "multiplies and adds", Ops.CAST: "converts", Ops.BITCAST: "reads bits anew",
}  # fmt: skip

REDUCES = {
    Ops.ADD: "sums", Ops.MAX: "finds the largest of", Ops.MIN: "finds the smallest of",
    Ops.MUL: "multiplies together",
}  # fmt: skip
SCANS = {
    Ops.ADD: "keeps the running sum of", Ops.MAX: "keeps the largest so far of",
    Ops.MUL: "keeps the running product of", Ops.MULACC: "runs a recurrence over",
}  # fmt: skip
LOOPED = (Ops.REDUCE, Ops.SCAN)


def sentence(ast: UOp) -> str:
    """A sentence on a kernel (a SINK) or a COPY, without a full stop."""
    if ast.op is Ops.COPY:
        return f"copies {_counted(f'{ast.src[0].dtype.size:,}')} to {ast.src[2].arg}"  # type: ignore
    told: set[UOp] = set()
    said = [_stored(store, told) for store in ast.src]
    each = "; and ".join(filter(None, dict.fromkeys(said)))
    return each if len(said) == 1 else f"stores {len(said)} results: {each}"


def _stored(store: UOp, told: set[UOp]) -> str:
    """How one stored value is computed; empty if that was told as a step towards another one. told:
    the reduces mentioned so far; new ones are added."""
    value = store.src[1]
    if value in told:
        return ""
    places = _product(store.own_ranges)
    reduces = [u for u in _arithmetic(value) if u.op in LOOPED]
    before = "from the same, " if reduces and set(reduces) <= told else ""
    groups: set[Groups] = set()
    steps = [_reduced(reduce, groups) for reduce in reduces if reduce not in told]
    told.update(reduces)
    verbs = _verbs(value)
    if steps:
        return "; ".join([*steps, f"then {_listed(verbs)}"] if verbs else steps)
    if verbs:
        return f"{before}{_listed(verbs)}, for {_counted(places, 'element', 'each of ')}"
    return f"{before}{_moved(store, value, places)}"


# ---- elementwise ---------------------------------------------------------------------------------


def _arithmetic(value: UOp, stop: Callable[[UOp], bool] = lambda u: False) -> list[UOp]:
    """The operations on data below a value, sources first, without index arithmetic."""
    found = value.toposort(lambda u: u is value or not (u.op is Ops.INDEX or stop(u)))
    return [u for u in found if u.op in LOOPED or u.op in GroupOp.Elementwise]


def _verbs(value: UOp) -> list[str]:
    """The operations on numbers since they were loaded or reduced: subtracts, divides."""
    if value.op in LOOPED:
        return []
    ops = [u for u in _arithmetic(value, lambda u: u.op in LOOPED) if u.op not in LOOPED]
    numbers = _of_numbers(value)
    ops = [u for u in ops if u in numbers] or ops  # not the conditions on indices
    said = {u: _said(u) for u in ops}
    parts = {part for _, inside in said.values() for part in inside}
    verbs = dict.fromkeys(words for u, (words, _) in said.items() if u not in parts)
    return [f"does {len(ops):,} operations"] if len(verbs) > MOST_VERBS else list(verbs)


def _of_numbers(value: UOp) -> set[UOp]:
    """The nodes that depend on data, not only on indices."""
    found: set[UOp] = set()
    for u in value.toposort(lambda u: u.op is not Ops.INDEX):
        if u.op in (Ops.LOAD, *LOOPED) or any(s in found for s in u.src):
            found.add(u)
    return found


def _constant(u: UOp) -> float | None:
    return u.arg if u.op is Ops.CONST and isinstance(u.arg, (int, float)) else None


def _where(number: float, words: str) -> Callable[[float], str]:
    """The words, if a constant is about equal to this number."""
    return lambda c: words if math.isclose(c, number, rel_tol=1e-6) else ""


def _mean(c: float) -> str:
    """The words for a sum * (1 / 128)."""
    is_part = 0 < c < 1 and math.isclose(1 / c, round(1 / c), rel_tol=1e-6)
    return f"divides by {round(1 / c):,}" if is_part else ""


RELU = "sets what is negative to 0"
_x, _c = UPat.var("x"), UPat.cvar("c")


def _named(op: Ops, *src: UPat) -> UPat:
    """An operation that needs no words of its own."""
    return UPat(op, src=src or None, name="part")


# An operation is described by the first pattern that matches and has words for its constant.
IDIOMS: list[tuple[UPat, str | Callable[[float], str]]] = [
    (UPat(Ops.ADD, src=[_x, _named(Ops.NEG)]), "subtracts"),
    (UPat(Ops.ADD, src=[_x, _named(Ops.MUL, UPat(), _c)]), _where(-1, "subtracts")),
    (UPat(Ops.EXP2, src=(_named(Ops.MUL, _x, _c),)),
     _where(math.log2(math.e), "takes exponentials")),
    (UPat(Ops.MUL, src=(_named(Ops.LOG2), _c)), _where(math.log(2), "takes logarithms")),
    (UPat(Ops.MUL, src=(_x, _x)), "squares"),
    (UPat(Ops.FDIV, src=(_x, _c)), lambda c: f"divides by {c:,g}"),
    (UPat(Ops.MUL, src=[_x, _named(Ops.RECIP)]), "divides"),
    (UPat(Ops.MUL, src=(UPat(Ops.REDUCE), _c)), _mean),
    (UPat(Ops.MUL, src=(_x, _c)), _where(-1, "negates")),
    (UPat(Ops.MAX, src=(_x, _c)), _where(0, RELU)),
]  # fmt: skip


def _said(u: UOp) -> tuple[str, Sequence[UOp]]:
    """An operation in words, and the operations below it that these words include."""
    for pattern, words in IDIOMS:
        for found in pattern.match(u, {}):
            number = None if isinstance(words, str) else _constant(found["c"])
            said = words if isinstance(words, str) else "" if number is None else words(number)
            if said:
                return said, [found["part"]] if "part" in found else []
    if u.op is Ops.WHERE:
        condition, yes, about = u.src
        below = condition.toposort(lambda t: t is not about)
        tests = [t for t in below if t.op in GroupOp.ALU and t is not about]
        compares = [t for t in tests if t.op in GroupOp.Comparison]
        zero = all(t.src[0] is about and _constant(t.src[1]) == 0 for t in compares)
        if _constant(yes) == 0 and zero and any(t.op is Ops.CMPLT for t in compares):
            return RELU, tests  # 0 where a < 0 or a == 0, else a
        if condition.op is not Ops.CONST and not _of_numbers(condition):
            return "puts together", []  # no data decides: this is a cat()
    if u.op is Ops.CAST:
        return f"converts to {repr(u.dtype).removeprefix('dtypes.')}", []
    if u.op in (Ops.AND, Ops.OR, Ops.XOR) and u.dtype.name == "bool":
        return "combines conditions", []
    return VERBS.get(u.op, u.op.name), []


def _listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# ---- reduces -------------------------------------------------------------------------------------


# What a reduce reduces: "rows" (columns, windows, groups), how many, and the numbers in each.
Groups = tuple[str, str, str]


def _reduced(reduce: UOp, known: set[Groups]) -> str:
    """A reduce or scan, with the operations before it. known: the groups mentioned so far; its own
    is added."""
    is_scan = reduce.op is Ops.SCAN
    own, verbs = (reduce.src[-1:], SCANS) if is_scan else (reduce.own_ranges, REDUCES)
    value, verb = reduce.src[0], verbs.get(reduce.arg, f"reduces by {reduce.arg.name}")
    outer = _sorted(r for r in reduce.ranges if r not in own)
    size, places = _product(own), _product(outer)
    loads = [u for u in value.toposort() if u.op is Ops.LOAD]
    noun = _noun(own, outer, loads)
    operands = [_uncast(s) for s in value.src]
    is_product = value.op is Ops.MUL and all(s.op is Ops.LOAD for s in operands)
    if verb == REDUCES[Ops.ADD] and is_product and operands[0] is not operands[1]:
        each = f"each of {_shape(outer)} results is a sum of {size} products"
        if noun == "windows":
            return f"slides windows over its input: {each}"
        if not outer:
            return f"multiplies pairs of numbers and sums all {size} products"
        if all(any(r not in s.ranges for r in outer) for s in operands):  # used for several results
            return f"multiplies matrices: {each}"
        return f"multiplies pairs of numbers and sums each of {places} {noun} of {size} products"
    groups = noun, places, size
    what = f"each of {places} {noun} of {_counted(size)}" if places != "1" else _counted(size)
    if not outer:
        what = "the number" if size == "1" else f"all {_counted(size)}"
    elif groups in known:
        what = f"each {noun.removesuffix('s')}"
    known.add(groups)
    return _listed([*_verbs(value), f"{verb} {what}"])


def _uncast(u: UOp) -> UOp:
    return _uncast(u.src[0]) if u.op is Ops.CAST else u


def _noun(own: Sequence[UOp], outer: Sequence[UOp], loads: Iterable[UOp]) -> str:
    """Rows run along the last dimensions of what is read, columns across them."""
    for load in loads:
        places = load.src[0].src[2:]
        inside = [n for n, place in enumerate(places) if set(own) & set(place.ranges)]
        around = [n for n, place in enumerate(places) if set(outer) & set(place.ranges)]
        if set(inside) & set(around):
            return "parts" if len(places) == 1 else "windows"
        if inside and around:
            if min(inside) > max(around):
                return "rows"
            return "columns" if max(inside) < min(around) else "groups"
    return "groups"


# ---- copies --------------------------------------------------------------------------------------


def _moved(store: UOp, value: UOp, places: str) -> str:
    """A value that is stored without arithmetic."""
    if value.op is Ops.CONST:
        return f"fills {_counted(places, 'element')} with {value.arg}"
    if value.op is not Ops.LOAD:
        return f"writes {_counted(places)}, counting up"
    index = value.src[0]
    valid = index.src[1]
    loops = _sorted(store.own_ranges)
    used = [r for place in index.src[2:] for r in _sorted(place.ranges)]
    backwards = any(x.op is Ops.MUL and (_constant(x.src[1]) or 0) < 0 for x in index.toposort())
    reordered = backwards or [r for r in loops if r in used] != list(dict.fromkeys(used))
    said = f"copies {_counted(places)}"
    said += " with zeros around them" * (valid.op is not Ops.CONST or valid.arg is not True)
    said += " in a different order" * reordered
    return said + " several times" * any(r not in used for r in loops)


# ---- numbers -------------------------------------------------------------------------------------


def _sorted(ranges: Iterable[UOp]) -> list[UOp]:
    return sorted(ranges, key=lambda r: r.arg[0])


def _product(ranges: Iterable[UOp]) -> str:
    """The number of iterations of loops together; `3 × n` if a size is symbolic."""
    ordered = _sorted(ranges)
    is_known = all(r.src[0].op is Ops.CONST for r in ordered)
    return f"{math.prod(r.src[0].arg for r in ordered):,}" if is_known else _shape(ordered)


def _shape(ranges: Sequence[UOp]) -> str:
    sizes = [f"{r.src[0].arg:,}" if r.src[0].op is Ops.CONST else render(r.src[0]) for r in ranges]
    return " × ".join(sizes) or "1"


def _counted(count: str, noun: str = "number", each: str = "") -> str:
    return f"1 {noun}" if count == "1" else f"{each}{count} {noun}s"
