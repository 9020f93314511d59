"""What several exercises of this lesson need."""

from collections.abc import Callable

import numpy as np

from classroom.ask import Open, Wrong, describe
from classroom.loop_nests import HalideStage, Nest, Var, difference
from classroom.other_frameworks import FRIENDS, PINNED
from tinyframe.codegen.optimize.loops import Opt, OptOps


def values(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Fresh numbers between -scale and scale."""
    return (np.random.default_rng().uniform(-scale, scale, shape)).astype(np.float32)


def near(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-4, atol=1e-5)


def understood(answer, read: Callable[[], dict[str, str]], asked: int, done: str) -> dict[str, str]:
    """Answers by name, in whatever form they were written; Open where none or too few are there."""
    if not isinstance(answer, (dict, list, tuple)):
        raise Wrong("The answer has to be a dict: {1: …, 2: …}.", got=describe(answer))
    found = read()
    if not found:
        raise Open("")
    if len(found) < asked:
        raise Open(f"{len(found)} of {asked} {done}.")
    known = {*PINNED, *(name_of(n) for n in range(len(FRIENDS)))}
    if odd := [key for key in found if key not in known]:
        raise Wrong(f"I don't know which one {odd[0]!r} is. Use their numbers, from 1 to {asked}.")
    return found


x, y, k, xo, xi, yo, yi = (Var(name) for name in ("x", "y", "k", "xo", "xi", "yo", "yi"))


def described(c: HalideStage) -> HalideStage:
    """The schedule that 10.13 describes in Halide's words."""
    c = c.split(x, xo, xi, 16).split(y, yo, yi, 4).reorder(xi, yi, k, yo, xo)
    return c.vectorize(xi).unroll(yi).parallel(xo)


def same_nest(got: Nest, wanted: Nest, case: str = "") -> None:
    if told := difference(got, wanted):
        lines = [repr(nest).replace("\n", "; ").replace("  ", "") for nest in (wanted, got)]
        raise Wrong(told, case, *lines)


TILE = (Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 6))


def name_of(place: int) -> str:
    return FRIENDS[place][1]
