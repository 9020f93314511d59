"""Part 10b, other people's source: the exercises, and what an answer has to do. What is asked of a
kernel in Triton's manner is asked by running it, what is asked of a schedule by comparing loops."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from classroom.ask import call, describe, does_nothing, fresh_sizes, same_values, wants
from classroom.define_by_run import Loads, Text, as_c, numbers, reading
from classroom.differences import of_shapes
from classroom.exercise import Exercise, Open, Wrong
from classroom.loop_nests import (
    UNROLLED,
    VECTORIZED,
    HalideStage,
    Nest,
    NestError,
    TVMSchedule,
    Var,
    difference,
    matmul_in_halide,
    matmul_in_tvm,
    nest_of,
)
from classroom.other_frameworks import (
    CLAIMS,
    FRIENDS,
    PINNED,
    ROOMS,
    as_pins,
    numbered,
    room_of,
)
from classroom.triton_like import by_rows
from tinyframe import Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps


def values(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Fresh numbers between -scale and scale."""
    return (np.random.default_rng().uniform(-scale, scale, shape)).astype(np.float32)


def near(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-4, atol=1e-5)


# ---- a kernel is read ----------------------------------------------------------------------------

SMALL = np.array([[3, 4, 0], [1, -1, 1]], np.float32)
TINY = np.array([[0, 0, 0], [0.001, 0.002, -0.001]], np.float32)
WEIGHTS = np.array([1, 2, -1], np.float32)
EPS = 1e-6


def root_mean_square(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS) * w


def read_kernel(answer: Any) -> str:
    """answer(x, w): a Tensor, the same as the Triton-like kernel of the lesson computes."""
    rows, columns = fresh_sizes(2)
    cases = {
        "`x = [[3, 4, 0], [1, -1, 1]]`, `w = [1, 2, -1]`": (SMALL, WEIGHTS),
        "a different shape": (values(rows, columns), values(columns)),
        "a row of zeros, and a row of thousandths": (TINY, WEIGHTS),
    }
    for case, (x, w) in cases.items():
        shown = x is SMALL
        got = call(answer, Tensor(x).realize(), Tensor(w).realize())
        wants(got, Tensor, "a Tensor", case)
        wanted = root_mean_square(x, w)
        made = got.numpy()
        if made.shape != wanted.shape:
            said = (str(wanted.shape), str(made.shape)) if shown else ("", "")
            raise Wrong(of_shapes(made.shape, wanted.shape), case, *said)
        square = (x * x).mean(axis=1, keepdims=True)
        for wrong, told in (
            (x / np.sqrt(square + EPS), "Where did the weights go? Look at the last line."),
            (x / np.sqrt((x * x).sum(axis=1, keepdims=True) + EPS) * w,
             "You add up the squares. The kernel divides that by something before the root."),
            (x / (square + EPS) * w, "There's a square root in the kernel."),
            (x / np.sqrt((x * x).mean() + EPS) * w, "You take the mean of everything. A program "
             "sees one row only."),
            (x / np.sqrt((x * x).mean(axis=0, keepdims=True) + EPS) * w,
             "That's the mean of each column. A program has a row."),
            ((x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + EPS) * w,
             "That's LayerNorm, which subtracts the mean first. Does the kernel?"),
        ):  # fmt: skip
            if near(made, wrong) and not near(made, wanted):
                raise Wrong(told, case)
        if x is TINY and not near(made, wanted):
            raise Wrong("What does the kernel add before the root? These rows notice.", case)
        same_values(got, wanted, case, shown)
    return (
        "That's RMSNorm. A language model has dozens of them, and you've just read one in a "
        "language that you didn't know ten minutes ago."
    )


# ---- a kernel is written -------------------------------------------------------------------------


def softmax_of(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def padded_softmax(x: np.ndarray, block: int) -> np.ndarray:
    """What comes out if everything behind the row is taken for zeros."""
    wide = np.zeros((len(x), block), np.float32)
    wide[:, : x.shape[1]] = x
    return softmax_of(wide)[:, : x.shape[1]]


def write_kernel(answer: Any) -> str:
    """answer(x_ptr, out_ptr, columns, BLOCK): the softmax of a row, in each program."""
    if not callable(answer):
        raise Wrong("This exercise asks for a kernel, which is a function.", got=describe(answer))
    if does_nothing(answer):
        raise Open("")
    rows = fresh_sizes(1)[0]
    cases = {
        "rows of 4, in a BLOCK of 4": (np.array([[1, 2, 3, 4], [0, 0, -1, 2]], np.float32), 4),
        "rows of 3, in a BLOCK of 4": (np.array([[-1, -2, -3], [0, 1, 2]], np.float32), 4),
        "rows of 3, in a BLOCK of 16": (np.array([[-5, -6, -7], [5, 1, 2]], np.float32), 16),
        "large numbers": (np.array([[1000, 999], [-500, -500]], np.float32), 2),
        "rows far below 0, in a BLOCK of 4": (np.array([[-500, -501, -502]], np.float32), 4),
        "a different shape": (values(rows, 11, scale=9), 16),
    }
    for case, (x, block) in cases.items():
        made = by_rows(answer, Tensor(x), block=block).numpy()
        wanted = softmax_of(x)
        if near(made, wanted):
            continue
        if np.isnan(made).all() and "large" not in case and block == x.shape[1]:
            raise Wrong(
                "Nothing sensible arrived in out_ptr. Does each program store its row?", case
            )
        if np.isnan(made).all(axis=1).any() and "large" in case:
            raise Wrong(
                "exp of 1000 is more than a float can hold. Subtract the row's maximum first.", case
            )
        if near(made[:1], wanted[:1]) and len(x) > 1 and not np.isfinite(made[1:]).any():
            raise Wrong("Only the first row arrives. Where in out_ptr does a row begin?", case)
        if near(made, padded_softmax(x, block)) or (made.sum(axis=1) < 0.999).any():
            raise Wrong(
                "What's behind the end of the row counts, too: each row adds up to less than 1. "
                "What has to be there, so that its exp is 0?",
                case,
                more=(("row sums", ", ".join(f"{s:.3f}" for s in made.sum(axis=1))),)
                if "different" not in case
                else (),
            )
        if np.isnan(made).all() and "below" in case:
            raise Wrong(
                "Your maximum looks behind the end of the row, too. What's there is larger than "
                "anything in these rows.",
                case,
            )
        if np.isnan(made).any():
            raise Wrong(
                "There's NaN in it. Where a mask is False nothing is loaded, and what's there "
                "then isn't defined, unless you give `load` an `other`.",
                case,
            )
        if block == x.shape[1] and near(made.sum(axis=1), np.ones(len(x), np.float32)):
            raise Wrong("It adds up to 1, but it isn't the softmax.", case)
        same_values(Tensor(made), wanted, case, shown="different" not in case)
    return "A softmax in one kernel, and what's behind the end of a row doesn't count."


# ---- files are pinned to the map -----------------------------------------------------------------


def pins(answer: Any) -> str:
    """{1: "schedule", …}: a room for each file."""
    found = understood(answer, lambda: as_pins(answer), len(PINNED), "files are pinned")
    for number, file in enumerate(PINNED, 1):
        room = found[file]
        if room not in ROOMS:
            raise Wrong(
                f"There's no room {room!r}. The rooms are {', '.join(ROOMS)}.",
                f"file {number}, `{file}`",
            )
        if room != room_of(file):
            wrong = sum(found[f] != room_of(f) for f in PINNED)
            others = f" {wrong - 1} more aren't right, either." if wrong > 2 else ""
            others = " One more isn't right, either." if wrong == 2 else others
            raise Wrong(
                f"`{room}` is the room for this: {ROOMS[room]}. This file does something else: "
                f"{PINNED[file]}.{others}",
                f"file {number}, `{file}`",
            )
    return "Ten doors in houses that you'd never entered, and you knew what's behind each."


def understood(
    answer: Any, read: Callable[[], dict[str, str]], asked: int, done: str
) -> dict[str, str]:
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


# ---- a kernel is a function ----------------------------------------------------------------------

X_SHAPE, RESULT = (3, 4), (4, 3)


def inner(answer: Any) -> str:
    """answer(index): the value of (x.T + b).relu() there, by ops."""
    case = f"`x` of shape {X_SHAPE}, `b` of shape {X_SHAPE[:1]}"
    with reading(Loads()) as taken:
        value = call(answer, (1, 1))
    if not isinstance(value, np.floating) and not taken.read:
        raise Wrong(
            "What it returns has to be made by `ops`, from what `ops.load` gives.",
            case,
            got=describe(value),
        )
    first = np.arange(1, 13, dtype=np.float32).reshape(X_SHAPE) - 6
    for x, b in ((first, np.array([0, 10, -3], np.float32)), (values(*X_SHAPE), values(3))):
        shown = x is first
        made = numbers(answer, RESULT, x=x, b=b)
        wanted = np.maximum(x.T + b, 0)
        if near(made, wanted):
            continue
        if near(made, x.T + b):
            raise Wrong("The relu is missing: no value may be below 0.", case)
        if near(made, np.maximum(x.T, 0)):
            raise Wrong("And `b`?", case)
        if near(made, np.maximum(x.reshape(RESULT) + b, 0)):
            raise Wrong(
                "That's x.reshape(4, 3): you read x in the order in which it lies in memory. "
                "Element (i, j) of x.T is element (j, i) of x.",
                case,
            )
        same_values(Tensor(made), wanted, case, shown)
    try:
        with reading(Text()):
            text = str(answer((Var("i"), Var("j"))))
    except TypeError:
        text = as_c(answer, RESULT)
    if not all(part in text for part in ("x[", "b[", "max(")):
        raise Wrong(
            "When `ops` writes C instead of computing, something gets lost: your function has to "
            "work with whatever `ops` gives it.",
            got=text,
        )
    return "One function, and what it means is up to whoever calls it."


# ---- loops ---------------------------------------------------------------------------------------

x, y, k, xo, xi, yo, yi = (Var(name) for name in ("x", "y", "k", "xo", "xi", "yo", "yi"))


def described(c: HalideStage) -> HalideStage:
    """The schedule that 10.13 describes in Halide's words."""
    c = c.split(x, xo, xi, 16).split(y, yo, yi, 4).reorder(xi, yi, k, yo, xo)
    return c.vectorize(xi).unroll(yi).parallel(xo)


def same_nest(got: Nest, wanted: Nest, case: str = "") -> None:
    if told := difference(got, wanted):
        lines = [repr(nest).replace("\n", "; ").replace("  ", "") for nest in (wanted, got)]
        raise Wrong(told, case, *lines)


def as_opts(answer: Any) -> list[Opt]:
    if isinstance(answer, Opt):
        answer = [answer]
    try:
        opts = list(answer)
    except TypeError:
        opts = [None]
    if not all(isinstance(opt, Opt) for opt in opts):
        raise Wrong("The answer has to be a list of Opts.", got=describe(answer))
    return opts


def opts_for_halide(answer: Any) -> str:
    """Opts whose nest is the one that a Halide schedule makes."""
    opts = as_opts(answer)
    if not opts:
        raise Open("")
    try:
        made = nest_of(opts)
    except KernelOptError as error:
        raise Wrong(f"That's not possible: {error}.") from None
    except NestError as error:
        raise Wrong(str(error)) from None
    same_nest(made, described(matmul_in_halide()).nest)
    return f"Six directives of Halide's, and {len(opts)} Opts. The same loops."


TILE = (Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 6))


def tile_in_halide(answer: Any) -> str:
    """answer(c): c, scheduled in Halide's manner, with the loops of TILE."""
    stage = matmul_in_halide()
    try:
        got = call(answer, stage)
    except NestError as error:
        raise Wrong(str(error)) from None
    if not isinstance(got, HalideStage):
        raise Wrong("The answer has to be the schedule itself: `return c.…`", got=describe(got))
    if not difference(matmul_in_halide().nest, got.nest):
        raise Wrong("Nothing has changed: these are still three plain loops.")
    wanted = nest_of(TILE)
    if got.nest.alike != wanted.alike and sorted(got.nest.alike) == sorted(wanted.alike):
        kinds = [w[3] for w in got.nest.alike]
        inside = [w for n, w in enumerate(got.nest.alike) if w[3] == "serial"
                  and any(kind in (UNROLLED, VECTORIZED) for kind in kinds[:n])]  # fmt: skip
        if inside:
            raise Wrong(
                f"The right loops, but that of {inside[0][0]} runs inside the copies. An UPCAST "
                "always goes all the way in. Halide leaves a loop where it was until you reorder."
            )
    same_nest(got.nest, wanted)
    return "The register tile of 7c, in Halide. What UPCAST does in one word takes it three."


# ---- words ---------------------------------------------------------------------------------------

OUR_WORDS = tuple(dict.fromkeys(word for _, _, word, _ in FRIENDS))


def name_of(place: int) -> str:
    return FRIENDS[place][1]


def meant(answer: Any) -> str:
    """{1: "opts", …}: our word for what each of them means."""
    names = [said for _, said, _, _ in FRIENDS]
    found = understood(
        answer, lambda: numbered(answer, names, OUR_WORDS), len(FRIENDS), "are translated"
    )
    for number, (who, said, word, why) in enumerate(FRIENDS, 1):
        given = found[said].removesuffix("s") if found[said] not in OUR_WORDS else found[said]
        given = {"opt": "opts", "beam": "BEAM", "threadblock": "thread block"}.get(given, given)
        if given not in OUR_WORDS:
            raise Wrong(
                f"Which of our words is {found[said]!r}? Choose from {', '.join(OUR_WORDS)}.",
                f"sentence {number}",
            )
        if given != word:
            same = " They use our word, and don't mean what we do." if given in said else ""
            raise Wrong(f"Not that one.{same} {why}", f"sentence {number}, {who}: {said}")
    return "Eight sentences from six houses, and no dictionary."


# ---- a wrong claim -------------------------------------------------------------------------------


def wrong_claim(answer: Any) -> str:
    """The number of the claim that's wrong."""
    typed = str(answer).strip(" .[](){}").lower().removeprefix("claim").strip()
    number = int(float(typed)) if typed.replace(".", "", 1).isdecimal() else 0
    if isinstance(answer, bool) or not 1 <= number <= len(CLAIMS):
        raise Wrong(f"The answer has to be a number from 1 to {len(CLAIMS)}.", got=describe(answer))
    if why := CLAIMS[number - 1][1]:
        raise Wrong(f"That claim is right. {why}", f"claim {number}")
    return (
        "Triton compiles one function, and that's a kernel. Which operations share it is decided "
        "by whoever writes it: you, or Inductor."
    )


# ---- a design ------------------------------------------------------------------------------------


def opt_lists() -> list[tuple[list[Opt], bool]]:
    """Lists of Opts, and whether they're shown; the last is a new one each time."""
    O = OptOps  # noqa: E741
    lanes, rows = random.choice((4, 8)), random.choice((2, 3, 4))
    fresh = [
        Opt(O.UPCAST, 0, rows),
        Opt(O.UNROLL, 2, random.choice((2, 4))),
        Opt(O.VECTOR, 1, lanes),
        Opt(O.SPLIT, 0, 2),
        Opt(O.REORDER, random.choice(((2, 0, 1, 3), (1, 2, 0, 3), (2, 1, 0, 3)))),
    ]
    return [
        ([], True),
        ([Opt(O.VECTOR, 1, 8)], True),
        ([Opt(O.UPCAST, 0, 6), Opt(O.VECTOR, 1, 8)], True),
        ([*TILE], True),
        ([Opt(O.VECTOR, 1, 8), Opt(O.REORDER, (1, 0, 2)), Opt(O.UPCAST, 0, 2)], True),
        ([Opt(O.SPLIT, 0, 4), Opt(O.UPCAST, 2, 2)], True),
        ([Opt(O.UNROLL, 2, 4), Opt(O.UPCAST, 1, 3), Opt(O.THREAD, 0)], True),
        (fresh, False),
    ]


def to_tvm(answer: Any) -> str:
    """answer(sch, opts): does to a schedule of TVM's what these Opts do to our loops."""
    if not callable(answer):
        raise Wrong("This exercise asks for a function.", got=describe(answer))
    if does_nothing(answer):
        raise Open("")
    lists = opt_lists()
    if not any(differs(run_in_tvm(answer, opts, shown)) for opts, shown in lists[1:3]):
        raise Wrong("Your function leaves the schedule as it was: three plain loops.")
    for opts, shown in lists:
        case = f"`{opts}`" if shown else "a different list"
        same_nest(run_in_tvm(answer, opts, shown), nest_of(opts), case)
    return "That's a compiler, from one scheduling language to another."


def run_in_tvm(answer: Any, opts: Sequence[Opt], shown: bool) -> Nest:
    sch = matmul_in_tvm()
    try:
        given = answer(sch, list(opts))
    except NestError as error:
        raise Wrong(str(error), f"`{opts}`" if shown else "a different list") from None
    return given.nest if isinstance(given, TVMSchedule) else sch.nest


def differs(nest: Nest) -> bool:
    return bool(difference(nest, matmul_in_tvm().nest))


# ---- the table -----------------------------------------------------------------------------------

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "10.9",
        "elsewhere-read-triton",
        "A kernel in Triton's manner, read",
        read_kernel,
        (
            "One program has one row. Which three things does it do with it before it stores?",
            "`(x * x).mean(axis=1, keepdim=True)` is the sum divided by columns. Then the "
            "1e-6, a root, a division, and the weights.",
        ),
        because="The mask only keeps a program inside its row. What's left is a mean of squares, a "
        "root, a division and a product, which is RMSNorm.",
    ),
    Exercise(
        "10.10",
        "elsewhere-write-triton",
        "A softmax in Triton's manner",
        write_kernel,
        (
            "The kernel of 10.9 has the same beginning and the same end. What has to be in the "
            "places behind the row, so that they neither are the maximum nor add to the sum?",
            '`tl.load(…, mask=mask, other=-float("inf"))`, then `tl.max`, `tl.exp`, `tl.sum`.',
        ),
        because="exp of minus infinity is 0, and minus infinity is no maximum. With that, a block "
        "that's longer than the row does no harm.",
    ),
    Exercise(
        "10.11",
        "elsewhere-pins",
        "Ten files and their rooms",
        pins,
        (
            "Don't look at the names first. What does each file do, and where have you seen that "
            "in tinyframe?",
            "Whatever asks whether two things can be one is in the room schedule. Whatever "
            "changes loops is in loops, and writes nothing.",
        ),
        because="What a file does says more than its name: whoever fuses is the schedule, whoever "
        "splits and vectorizes is loops, and a for that's written out is code.",
    ),
    Exercise(
        "10.12",
        "elsewhere-inner",
        "A kernel as a function",
        inner,
        (
            "Element (i, j) of x.T is which element of x? And how far from the beginning is that, "
            "in rows of 4?",
            '`ops.load("x", j * 4 + i)` and `ops.load("b", j)`, then `ops.add`, then `ops.relu`.',
        ),
        because="A transposed view costs nothing: it's only a different expression in a load. And "
        "fusion costs nothing, either. The add and the relu are calls inside of one function.",
    ),
    Exercise(
        "10.13",
        "elsewhere-opts-for-halide",
        "Halide's loops, with our Opts",
        opts_for_halide,
        (
            "Which loops are left at the end, from outside in, and what is unrolled, vectorized or "
            "parallel? Which of our Opts makes each of these?",
            "A split whose inner loop is vectorized is one VECTOR, one whose inner loop is "
            "unrolled is one UPCAST. Then a REORDER for what's left, and last THREAD.",
        ),
        because="VECTOR and UPCAST split, mark and move all the way in. Of Halide's reorder, only "
        "yo and xo are left to say, and parallel is THREAD.",
    ),
    Exercise(
        "10.14",
        "elsewhere-tile-in-halide",
        "Our tile, in Halide",
        tile_in_halide,
        (
            "Split first: how many loops of x do you need, and how many of y? Then write down all "
            "six from the inside out.",
            "`c.split(x, xo, xi, 8).split(xo, xo, xm, 2).split(y, yo, yi, 6)`, then a reorder that "
            "begins with xi and has k behind the copies.",
        ),
        because="An UPCAST is a split, an unroll, and a place in the order. Halide has a directive "
        "for each, so you can also say what UPCAST can't.",
    ),
    Exercise(
        "10.15",
        "elsewhere-words",
        "Our words for theirs",
        meant,
        (
            "Ask of each sentence what it's about: one kernel's loops, several kernels, whole "
            "arrays, or a place of the grid?",
            "Each of our eight words is needed once.",
        ),
        because="A schedule is about one kernel's loops for Halide, and about the order of many "
        "kernels for XLA and for us. What lower() of JAX gives still has whole arrays in it.",
    ),
    Exercise(
        "10.16",
        "elsewhere-claims",
        "Which claim is wrong?",
        wrong_claim,
        (
            "Five of these you've seen in a picture or done yourself. Which one haven't you?",
            "Somebody has to know about both kernels in order to fuse them. Who sees only one at a "
            "time?",
        ),
        because="Triton is handed one function at a time, and makes a kernel of it. It never sees "
        "the next one.",
    ),
    Exercise(
        "10.17",
        "elsewhere-to-tvm",
        "A design: from Opts to TVM",
        to_tvm,
        (
            "Keep three lists: the loops that an axis can mean, the copies, and the lanes. What "
            "does each Opt do to these?",
            "One `sch.reorder`, of the loops, the copies and the lanes, puts everything in place "
            "at the end. Unroll and vectorize after that.",
        ),
        because="Our Opts name a loop by its position, TVM's by what split gave back. So a "
        "translator has to remember which loop is at which position by now.",
    ),
)
