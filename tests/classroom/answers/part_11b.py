"""Part 11b: what somebody might answer, and what they are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.contributing.history import History
from classroom.contributing.review import first_lines
from tinyframe import Tensor
from tinyframe.dtype import dtypes

# exercises that ask for an object, and not for a function, or for a function that only raises
OBJECTS: set[str] = {"11.13", "11.14", "11.16"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {
    "11.8": ((5, 10, 20), (15, 500, 500_000), (29, 999, 999_999), (6, 11, 21), (4, 9, 19)),
}

OWL = History()

# ---- 11.9 ----------------------------------------------------------------------------------------


def one_by_one(good, bad, is_bad):
    return next(n for n in range(good + 1, bad + 1) if is_bad(n))


def last_good(good, bad, is_bad):
    while bad - good > 1:
        mid = (good + bad) // 2
        good, bad = (good, mid) if is_bad(mid) else (mid, bad)
    return good


def off_the_end(good, bad, is_bad):
    while good < bad:
        mid = (good + bad) // 2
        if is_bad(mid):
            bad = mid
        else:
            good = mid + 1
    return good  # right, with one trial too many


def turned_round(good, bad, is_bad):
    while bad - good > 1:
        mid = (good + bad) // 2
        good, bad = (mid, bad) if is_bad(mid) else (good, mid)
    return bad


def twice(good, bad, is_bad):
    while bad - good > 1:
        mid = (good + bad) // 2
        if is_bad(mid):
            bad = mid
        if not is_bad(mid):
            good = mid
    return bad


def by_recursion(good, bad, is_bad):
    if bad - good <= 1:
        return bad
    mid = good + (bad - good + 1) // 2 if (bad - good) % 2 else (good + bad) // 2
    return by_recursion(good, mid, is_bad) if is_bad(mid) else by_recursion(mid, bad, is_bad)


def in_numpy(good, bad, is_bad):
    while bad - good > 1:
        mid = np.int64(np.floor((good + bad) / 2))
        good, bad = (good, mid) if is_bad(mid) else (mid, bad)
    return np.int64(bad)


def by_library(good, bad, is_bad):
    import bisect

    return bisect.bisect_left(range(bad), True, lo=good + 1, hi=bad, key=is_bad)


# ---- 11.10 ---------------------------------------------------------------------------------------


def the_same_as_at_first(n):
    return "good" if OWL.poster(n) == OWL.poster(0) else "bad"


def no_wink(n):
    try:
        return "good" if all(row == row[::-1] for row in OWL.poster(n)) else "bad"
    except AttributeError:
        return "skip"


def errors_are_bad(n):
    try:
        rows = OWL.poster(n)
    except Exception:
        return "bad"
    return "bad" if sum(row != row[::-1] for row in rows) > 7 else "good"


def errors_get_out(n):
    return "bad" if sum(row != row[::-1] for row in OWL.poster(n)) > 7 else "good"


def frames_are_bad(n):
    try:
        return "good" if len(OWL.poster(n)) == 15 else "bad"
    except Exception:
        return "skip"


def by_numbers(n):
    return "skip" if n in (18, 22) else "bad" if n > 18 else "good"


def by_halves(n):
    try:
        rows = OWL.poster(n)
    except (AttributeError, NameError):
        return "SKIP"
    alike = np.mean([row == "".join(reversed(row)) for row in rows])
    return " bad" if alike < 0.5 else "Good"


# ---- 11.11 ---------------------------------------------------------------------------------------


def halves(good, bad, verdict, what_of_a_skip):
    while bad - good > 1:
        mid = (good + bad) // 2
        word = verdict(mid)
        word = what_of_a_skip if word == "skip" else word
        good, bad = (good, mid) if word == "bad" else (mid, bad)
    return [bad]


def only_the_first(good, bad, verdict):
    return all_of_them(good, bad, verdict)[:1]


def with_the_good_one(good, bad, verdict):
    found = all_of_them(good, bad, verdict)
    return [found[0] - 1, *found]


def gives_up(good, bad, verdict):
    while bad - good > 1:
        mid = (good + bad) // 2
        word = verdict(mid)
        if word == "skip":
            break
        good, bad = (good, mid) if word == "bad" else (mid, bad)
    return list(range(good + 1, bad + 1))


def each_of_them(good, bad, verdict):
    words = {good: "good", bad: "bad"} | {n: verdict(n) for n in range(good + 1, bad)}
    low = max(n for n in words if words[n] == "good")
    high = min(n for n in words if words[n] == "bad")
    return list(range(low + 1, high + 1))


def all_of_them(good, bad, verdict):
    """Goes outwards from the middle, past what can't be tested."""
    seen = set()
    while True:
        left = sorted(set(range(good + 1, bad)) - seen, key=lambda n: abs(2 * n - good - bad))
        if not left:
            return [*range(good + 1, bad + 1)]
        seen.add(left[0])
        word = verdict(left[0])
        if word == "bad":
            bad = left[0]
        if word == "good":
            good = left[0]


# ---- 11.12 ---------------------------------------------------------------------------------------


def by_strides(view, i, j):
    return np.dot(view.strides, (i, j)) + view.offset


# ---- 11.13 ---------------------------------------------------------------------------------------

LINES = first_lines()
ALL_EIGHT = list(LINES.values())

# ---- 11.14 ---------------------------------------------------------------------------------------

X = np.array([[3.0, 4.0], [6.0, 8.0]])


def compares_it_with_itself(rms, gradient):
    assert np.allclose(rms(X), rms(X))


def only_values(rms, gradient):
    assert np.allclose(rms(X), [12.5**0.5, 50**0.5])


def exactly(rms, gradient):
    assert rms(np.array([1e-3, 2.0, 3.0], np.float32)) == 2.0816663


def no_assert(rms, gradient):
    return np.allclose(rms(X), 0) and False


def nonsense(rms, gradient):
    assert rms(X) > undefined_name  # noqa: F821


def without_memory(rms, gradient):
    x = np.array([[300.0, 400.0], [3.0, 4.0]])
    assert np.allclose(rms(x), [100 * 12.5**0.5, 12.5**0.5])
    slopes = gradient(np.array([1.0, 2.0]), x)
    assert np.allclose(slopes[:, 0], [300 / (200 * 12.5**0.5), 2 * 3 / (2 * 12.5**0.5)])


def measured(rms, gradient):
    """Slopes from nudges, as in 6a."""
    x = np.random.default_rng(1).normal(size=(3, 4)) + np.array([[1], [500], [2]])
    grad, eps = np.array([1.0, 2.0, -3.0]), 1e-5
    expected = np.sqrt((x**2).sum(1) / 4)
    if not np.allclose(rms(x), expected):
        raise AssertionError("values")
    found = gradient(grad, x)
    for place in np.ndindex(*x.shape):
        nudged = x.copy()
        nudged[place] += eps
        slope = (grad * (rms(nudged) - rms(x))).sum() / eps
        np.testing.assert_allclose(found[place], slope, rtol=1e-3, atol=1e-4)
    x *= 2
    np.testing.assert_allclose(rms(x), 2 * expected)


def returns_false(rms, gradient):
    try:
        measured(rms, gradient)
    except AssertionError:
        return False
    return True


# ---- 11.15 ---------------------------------------------------------------------------------------


def root_of(x):
    return np.maximum(np.sqrt((x * x).mean(-1)), 1e-30)


def one_line(grad, x):
    return (grad / (x.shape[-1] * root_of(x)))[..., None] * x


def in_einsum(grad, x):
    return np.einsum("...,...i->...i", grad / root_of(x), x / x.shape[-1])


# ---- 11.16 ---------------------------------------------------------------------------------------


def passes():
    assert Tensor([1, 2]).sum(dim=0).item() == 3


def of_nothing():
    assert 1 == 2


def typing_error():
    assert Tensr([1]).count_nonzero(dim=0).item() == 1  # noqa: F821


def elsewhere():
    assert Tensor([2.0]).exp().item() == 1


def rounds():
    assert Tensor([3.14159]).round(decimals=2).item() == np.float32(3.14)


def has_a_schedule():
    from tinyframe.nn.lr import ExponentialLR

    assert ExponentialLR


def exact_constants():
    constant, stored = Tensor(0.1, dtype=dtypes.half), Tensor([0.1], dtype=dtypes.half).realize()
    assert (constant * 3).item() == (stored * 3).item()


def prints_itself():
    from tinyframe import nn

    return repr(nn.Linear(2, 3)) == "Linear(2, 3)"


def tile_of_six():
    from tinyframe.codegen.optimize.plans import tile_rows

    assert tile_rows(64, 2, 16) == 6


WRONG: list[Any] = [
    # 11.9: a search by halves
    ("11.9", one_by_one, "in 19 trials, and 5 would do"),
    ("11.9", last_good, "1 too small"),
    ("11.9", off_the_end, "in one trial, and 0 would do"),
    ("11.9", turned_round, "expected 19"),
    ("11.9", twice, "Some were tried twice"),
    ("11.9", lambda good, bad, is_bad: bad if is_bad(good - 1) else bad, "go from 0 to 30"),
    ("11.9", lambda good, bad, is_bad: is_bad((good + bad) / 4), "has to be the number"),
    ("11.9", lambda good, bad, is_bad: [19], "has to be a whole number"),
    # 11.10: what is bad
    ("11.10", the_same_as_at_first, "That one is good"),
    ("11.10", no_wink, "that's a joke"),
    ("11.10", errors_are_bad, "neither good nor bad"),
    ("11.10", errors_get_out, "raised AttributeError"),
    ("11.10", frames_are_bad, "That one is good"),
    ("11.10", lambda n: "good", "That one is bad"),
    ("11.10", lambda n: n > 18, "has to be"),
    ("11.10", lambda n: "skip" if n == 30 else by_numbers(n), "can be tested"),
    # 11.11: a search that can skip
    ("11.11", lambda g, b, v: halves(g, b, v, "good"), "Why not 13"),
    ("11.11", lambda g, b, v: halves(g, b, v, "bad"), "20 is missing"),
    ("11.11", only_the_first, "Why not 14"),
    ("11.11", with_the_good_one, "You tried 15, and it's good"),
    ("11.11", gives_up, "stopped too early"),
    ("11.11", each_of_them, "in 29 trials, and 5 would do"),
    ("11.11", lambda g, b, v: all_of_them(g, b, v)[0], "has to be a list"),
    ("11.11", lambda g, b, v: "18, 19", "has to be a list"),
    # 11.12: where a cell is
    ("11.12", lambda view, i, j: view.offset + i * view.shape[1] + j, "offset 12"),
    ("11.12", lambda view, i, j: i * view.strides[0] + j * view.strides[1], "offset 12"),
    ("11.12", lambda v, i, j: v.offset + i * v.strides[1] + j * v.strides[0], "offset 0"),
    ("11.12", lambda v, i, j: v.offset + abs(i * v.strides[0]) + abs(j * v.strides[1]), "flipped"),
    ("11.12", lambda view, i, j: (i, j), "has to be a whole number"),
    # 11.13: eight faults
    ("11.13", ALL_EIGHT[:5], "You found 5 of 8"),
    ("11.13", [LINES["a wrong gradient"]], "You found 1 of 8"),
    ("11.13", range(1, 80), "all eight, and"),
    ("11.13", [*ALL_EIGHT, 34], "It can happen"),
    ("11.13", [*ALL_EIGHT, 53], "in the dev dependencies already"),
    ("11.13", [*ALL_EIGHT, 19], "was there before"),
    ("11.13", [*ALL_EIGHT, 1], "the name of a file"),
    ("11.13", [*ALL_EIGHT, 800], "There's no line 800"),
    ("11.13", ["the gradient"], "has to be the number"),
    ("11.13", 2.5, "has to be the number"),
    # 11.14: the test that was missing
    ("11.14", compares_it_with_itself, "It catches 0 of 6"),
    ("11.14", only_values, "the gradient has no n in it"),
    ("11.14", exactly, "an rms that's right"),
    ("11.14", no_assert, "an rms that's right"),
    ("11.14", nonsense, "raised NameError"),
    ("11.14", without_memory, "remembers"),
    ("11.14", lambda rms, gradient: rms(X), "It catches 0 of 6"),
    ("11.14", "assert rms", "asks for a function"),
    # 11.15: the gradient
    ("11.15", lambda grad, x: grad[..., None] * x / root_of(x)[..., None], "factor of 2"),
    ("11.15", lambda grad, x: x / (x.shape[-1] * root_of(x)[..., None]), "grad = [1, 10]"),
    ("11.15", lambda grad, x: one_line(grad, x).sum(-1), "should have 2 axes"),
    ("11.15", lambda grad, x: -one_line(grad, x), "sign"),
    ("11.15", lambda grad, x: one_line(grad, x).tolist(), "has to be an array"),
    ("11.15", lambda grad, x: one_line(grad, x).astype(np.float64), "x's dtype"),
    # 11.16: an issue of one's own
    ("11.16", (2, passes), "It passes today"),
    ("11.16", (2, of_nothing), "doesn't come near the issue"),
    ("11.16", (2, typing_error), "your test that fails here"),
    ("11.16", (11, elsewhere), "doesn't come near the issue"),
    ("11.16", (99, rounds), "numbers from 1 to"),
    ("11.16", ("the second", rounds), "numbers from 1 to"),
    ("11.16", (8, "it rounds"), "two things"),
    ("11.16", 8, "two things"),
    ("11.16", rounds, "two things"),
]

RIGHT: list[Any] = [
    ("11.9", by_recursion),
    ("11.9", in_numpy),
    ("11.9", by_library),
    ("11.10", by_numbers),
    ("11.10", by_halves),
    ("11.11", all_of_them),
    ("11.11", lambda *given: iter(all_of_them(*given)[::-1])),
    ("11.11", lambda *given: np.array(all_of_them(*given))),
    ("11.11", lambda *given: set(all_of_them(*given))),
    ("11.12", by_strides),
    ("11.12", lambda view, i, j: float(view.offset + i * view.strides[0] + j * view.strides[1])),
    ("11.13", ALL_EIGHT),
    ("11.13", tuple(ALL_EIGHT[::-1])),
    ("11.13", dict.fromkeys(ALL_EIGHT, "this is wrong")),
    ("11.13", ", ".join(map(str, ALL_EIGHT))),
    ("11.13", np.array(ALL_EIGHT)),
    ("11.13", (float(line) for line in ALL_EIGHT)),
    ("11.13", [*ALL_EIGHT, 13, 36, 48]),
    ("11.14", measured),
    ("11.14", returns_false),
    ("11.15", one_line),
    ("11.15", in_einsum),
    ("11.16", (8, rounds)),
    ("11.16", [rounds, "#8"]),
    ("11.16", (np.int64(7), has_a_schedule)),
    ("11.16", (14, exact_constants)),
    ("11.16", (5, prints_itself)),
    ("11.16", (15, tile_of_six)),
]
