"""The index that part 7b begins with: seven million characters, and what the rules make of it."""

from __future__ import annotations

import pytest

from classroom.mini import loader, stages, unruly


@pytest.fixture(autouse=True)
def reference():
    loader.use(stages.find("7b"))


def text_of_all(root):
    return unruly.written(root, most=10**9)


def test_it_is_as_long_as_it_is_said_to_be():
    part4 = unruly.mini("4")
    i, j = (part4.UOp(part4.Ops.RANGE, (), (n, 6)) for n in range(2))
    x = i * 10 + j
    for _ in range(6):
        x = (x + x) // 3 + (x < 5).where(x, 7)
    assert unruly.length(x) == len(text_of_all(x)) > 5000
    assert text_of_all(i * 10 + j) == "((r0*10)+r1)"
    assert text_of_all((i < 5).where(i, 7)) == "where((r0<5), r0, 7)"


def test_it_begins_the_same_however_much_is_shown():
    place = unruly.place()
    short, long = unruly.written(place, 50), unruly.written(place, 500)
    assert long.startswith(short.removesuffix(" …")) and len(short) == 52


def test_both_forms_say_the_same_place():
    place = unruly.place()
    part4, simplify = unruly.mini("4"), unruly.mini("7a").simplify
    short = simplify(place)
    assert unruly.length(place) > 10**6 > 100 > unruly.length(short)
    for row, column, i, j in ((0, 0, 0, 0), (3, 3, 2, 2), (1, 2, 0, 1), (2, 0, 1, 2)):
        at = (row, column, i, j)
        assert value(part4, place, at) == value(part4, short, at) == (row + i) * 6 + column + j


def value(part4, root, at):
    known = {}
    for node in root.toposort():
        if node.op is part4.Ops.RANGE:
            known[node] = at[node.arg[0]]
        else:
            known[node] = part4.ALU[node.op](*map(known.get, node.src)) if node.src else node.arg
    return known[root]
