"""Arithmetic lane by lane, for languages whose vectors can only be loaded and stored.

A computed vector is split into its lanes, which are put together again for a store:

    STORE(INDEX, ADD(LOAD float2, float2))
    STORE(INDEX, VECTORIZE(ADD(GEP(LOAD float2, 0), float), ADD(GEP(LOAD float2, 1), float)))

Such languages require a vector in memory to be aligned to its size. If an index is not known to be,
lanes are loaded and stored one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from tinyframe.algebra.symbolic import from_terms, is_multiple, terms
from tinyframe.codegen.expand import ALONG_LANES
from tinyframe.dtype import DType, PtrDType, dtypes
from tinyframe.uop.node import Ops, UOp, rebuild


def scalarize(most_bytes: int, lanes: Collection[int]) -> Callable[[UOp], UOp]:
    """A pass that leaves vectors only in loads, stores and MMAs.

    most_bytes: the size of the largest vector. lanes: the numbers of lanes that exist.
    """

    def is_moved(index: UOp, dtype: DType) -> bool:
        """Whether the language can load or store this vector at once."""
        memory = index.src[0].dtype
        assert isinstance(memory, PtrDType)
        exists = dtype.count in lanes and dtype.itemsize <= most_bytes and not dtypes.is_bool(dtype)
        return exists and index.arg is None and is_multiple(index.src[2], dtype.count)

    def load(old: UOp, u: UOp) -> UOp:
        index, *turns = u.src
        if is_moved(index, u.dtype):
            return _vector(_lanes(u))
        return _vector(place.load(*turns) for place in _places(index, u))

    def store(old: UOp, u: UOp) -> UOp:
        index, value, *ranges = u.src
        if value.dtype.count == 1:
            return u
        if is_moved(index, value.dtype):
            whole = value.src[0].src[0] if value.src[0].op is Ops.GEP else value
            is_copied = value.op is Ops.VECTORIZE and value.src == tuple(_lanes(whole))
            return u.replace(src=(index, whole, *ranges)) if is_copied else u
        places = enumerate(_places(index, value))
        return UOp.sink(
            *[UOp(Ops.STORE, dtypes.void, (p, value.gep(n), *ranges)) for n, p in places]
        )

    rules: dict[Ops, Callable[[UOp, UOp], UOp]] = {
        Ops.LOAD: load, Ops.STORE: store, Ops.STAGE: _stage, Ops.SINK: _sink,
        Ops.GEP: lambda old, u: u.src[0].gep(u.arg),
        **dict.fromkeys((Ops.VECTORIZE, Ops.FRAGMENT, Ops.MMA), lambda old, u: u),
    }  # fmt: skip

    def in_lanes(old: UOp, u: UOp) -> UOp:
        if old.dtype.count > 1 and (_adds_products(old) or old.tag == ALONG_LANES):
            return u
        has_vector = old.dtype.count > 1 or any(s.dtype.count > 1 for s in old.src)
        if has_vector or old.op in (Ops.STORE, Ops.STAGE, Ops.SINK):
            return rules.get(old.op, _each)(old, u)
        return u

    return lambda sink: rebuild(sink, in_lanes)


def _vector(lanes: Iterable[UOp]) -> UOp:
    found = tuple(lanes)
    return UOp(Ops.VECTORIZE, found[0].dtype.vec(len(found)), found)


def _lanes(u: UOp) -> list[UOp]:
    return [u.gep(n) for n in range(u.dtype.count)]


def _adds_products(u: UOp) -> bool:
    """Whether this is a sum of MMAs, which a tensor core adds for all lanes at once."""
    if u.op is Ops.REDUCE:
        # no MMA adds the sum of another loop
        return u.arg is Ops.ADD and u.src[0].op is not Ops.REDUCE and _adds_products(u.src[0])
    return u.op is Ops.MMA or (u.op is Ops.ADD and all(map(_adds_products, u.src)))


def _places(index: UOp, value: UOp) -> list[UOp]:
    """The INDEX of each lane."""
    memory, valid, flat = index.src
    step = 1 if index.arg is None else index.arg
    ts = terms(flat)  # terms are not simplified, which would undo decompositions
    first = ts.pop(None, 0)
    places = [
        from_terms({**ts, None: first + n * step}, flat.dtype) for n in range(value.dtype.count)
    ]
    return [UOp(Ops.INDEX, index.dtype, (memory, valid, place)) for place in places]


def _each(old: UOp, u: UOp) -> UOp:
    """The op on each lane; sources without lanes, such as RANGEs of a REDUCE, are shared."""
    count, dtype = old.dtype.count, old.dtype.scalar()
    return _vector(
        UOp(u.op, dtype, tuple([s.gep(n) for s in u.src]), u.arg, u.tag) for n in range(count)
    )


def _stage(old: UOp, u: UOp) -> UOp:
    """A panel whose lanes are stored one by one becomes a chain of STAGEs, one for each store."""
    store, *ranges = u.src
    if store.op is not Ops.SINK:
        return u
    memory = store.src[0].src[0].src[0]
    for place, value, *_ in (s.src for s in store.src):
        place = place.replace(src=(memory, *place.src[1:]))
        memory = u.replace(src=(place.store(value), *ranges))
    return memory


def _sink(old: UOp, u: UOp) -> UOp:
    return UOp.sink(*[x for s in u.src for x in (s.src if s.op is Ops.SINK else [s])], arg=u.arg)
