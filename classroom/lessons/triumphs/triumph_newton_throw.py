"""The next throw

Hint: `x.sum().gradient(vx, vy)` is how fast x changes with vx, and with vy. Together with those
of y you have four slopes. Which two equations do they make?
Hint: `np.linalg.solve([[dx_dvx, dx_dvy], [dy_dvx, dy_dvy]], [miss_x, miss_y])` says how far the
throw is off. Ask for gradients before you call `.numpy()` on x and y.
Because: If the flight were a straight function of the throw, the four slopes would say exactly
how far the throw is off, in both directions. It isn't straight, so you throw again; but each
throw starts much closer, where it's straighter.
Right: One step of Newton's method: four slopes, two equations, one better throw.
"""

from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.mini import triumphs

SECONDS = 60.0


STRAIGHT = "`place` returns `(2 * vx + vy + 1, 4 * vx - 3 * vy)`, and `vx = 1`, `vy = 2`"


def check(answer) -> None:
    """answer(place, vx, vy, hoop): the throw that Newton's method makes next."""
    Tensor = triumphs.mini().Tensor

    def straight(vx: Any, vy: Any) -> tuple[Any, Any]:
        return 2 * vx + vy + 1, 4 * vx - 3 * vy

    far = np.random.default_rng().uniform(4.5, 5.5, 2)
    cases: list[tuple[str, Any, tuple[float, float]]] = [
        (STRAIGHT, straight, (1.0, 2.0)),
        ("the real flight", triumphs.landing, (float(far[0]), float(far[1]))),
    ]
    for case, place, start in cases:
        vx, vy = (Tensor([v]) for v in start)
        got = _throw(call(answer, place, vx, vy, triumphs.HOOP), case)
        vx, vy = (Tensor([v]) for v in start)
        expected = triumphs.next_throw(place, vx, vy, triumphs.HOOP)
        if np.allclose(got, expected, rtol=2e-3, atol=2e-3):
            continue
        if case != STRAIGHT:
            there = [triumphs.plain(part) for part in place(*(Tensor([v]) for v in got))]
            wrong_if(np.allclose(there, triumphs.HOOP, atol=1e-2), "That throw goes in, so it's "
                     "more than one step. `next_throw` should take one and return.",
                     case)  # fmt: skip
            raise Wrong("It's right where the flight is a straight line, but not here.", case)
        moved, asked = np.subtract(got, start), np.subtract(expected, start)
        if np.allclose(moved, -asked, atol=1e-3):
            raise Wrong("You changed the throw by the right amount, the wrong way.", case)
        if np.allclose(got, asked, atol=1e-3) or np.allclose(got, -asked, atol=1e-3):
            raise Wrong("That's by how much to change the throw. Return the new throw.", case)
        if np.allclose(got, expected[::-1], atol=1e-3):
            raise Wrong("The two are swapped: vx comes first.", case)
        matrix, landed = np.array([[2.0, 1.0], [4.0, -3.0]]), np.array([5.0, -2.0])
        if np.allclose(got, start - np.linalg.solve(matrix, landed), atol=1e-3):
            raise Wrong("You aimed at 0, 0. The ball should get to `hoop`.", case)
        missed = np.subtract(triumphs.HOOP, landed)
        wrong_if(np.allclose(got, start + np.linalg.solve(matrix.T, missed), atol=1e-3),
                 "Two of your slopes have changed places. The first equation is about x, and has "
                 "`dx_dvx` and `dx_dvy` in it.", case)  # fmt: skip
        raise Wrong("From there, this throw doesn't go in. `place` is a straight function here, so "
                    "one step has to be enough.", case, [round(v, 3) for v in expected],
                    [round(v, 3) for v in got])  # fmt: skip


def _throw(value: Any, case: str) -> tuple[float, float]:
    try:
        one, other = value.tolist() if isinstance(value, np.ndarray) else value
        return triumphs.plain(one), triumphs.plain(other)
    except (TypeError, ValueError):
        raise Wrong("The answer has to be a pair of numbers: the new vx and vy.", case,
                    got=describe(value)) from None  # fmt: skip

# %% shared
import numpy as np
def slopes(f, x, up, down, width):
    found = []
    for i in range(len(x)):
        results = []
        for nudge in (up, down):
            moved = x.copy()
            moved[i] += nudge
            results.append(f(moved))
        found.append((results[0] - results[1]) / width)
    return found

def newton(place, vx, vy, hoop, sign=-1.0, aim=None, whole=True):
    x, y = place(vx, vy)
    slopes = [[s.numpy().item() for s in end.sum().gradient(vx, vy)] for end in (x, y)]
    aim = hoop if aim is None else aim
    change = np.linalg.solve(slopes, [x.numpy().item() - aim[0], y.numpy().item() - aim[1]])
    start = np.array([vx.numpy().item(), vy.numpy().item()]) if whole else 0
    return tuple(start + sign * change)

# %% wrong, each line
lambda *given: newton(*given, sign=1.0)  # says the wrong way
lambda *given: newton(*given, aim=(0.0, 0.0))  # says aimed at 0, 0
lambda *given: newton(*given, sign=1.0, whole=False)  # says Return the new throw
lambda *given: newton(*given)[::-1]  # says swapped
lambda place, vx, vy, hoop: place(vx, vy)[0]  # says a pair of numbers
lambda place, vx, vy, hoop: (5.2764, 7.0291)  # says doesn't go in

# %% wrong: six steps, where one was asked for
def next_throw(place, vx, vy, hoop):
    for _ in range(6):
        x, y = place(vx, vy)
        (a, b), (c, d) = x.sum().gradient(vx, vy), y.sum().gradient(vx, vy)
        u, v, det = hoop[0] - x, hoop[1] - y, a * d - b * c
        vx, vy = (vx + (u * d - v * b) / det).realize(), (vy + (a * v - c * u) / det).realize()
    return vx, vy

# %% wrong: the slopes are transposed
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    J = [[g.numpy().item() for g in part.sum().gradient(vx, vy)] for part in (x, y)]
    miss = [hoop[0] - x.numpy().item(), hoop[1] - y.numpy().item()]
    return np.array([vx.numpy().item(), vy.numpy().item()]) + np.linalg.solve(np.transpose(J), miss)

# %% wrong: says but not here
def from_far_behind(place, vx, vy, hoop):
    def lands(dx, dy):
        return np.array([end.numpy().item() for end in place(vx + dx, vy + dy)])

    here = lands(0, 0)
    slopes = np.column_stack([here - lands(-2, 0), here - lands(0, -2)]) / 2
    dvx, dvy = np.linalg.solve(slopes, here - hoop)
    return vx - dvx, vy - dvy
from_far_behind

# %% right: Cramer's rule, in mini's Tensors
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    (a, b), (c, d) = x.sum().gradient(vx, vy), y.sum().gradient(vx, vy)
    u, v, det = hoop[0] - x, hoop[1] - y, a * d - b * c
    return vx + (u * d - v * b) / det, vy + (a * v - c * u) / det
