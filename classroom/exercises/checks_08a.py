"""Part 8a, the learner's own C: the exercises, and what an answer has to do. The Tensors here are
mini's."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from classroom import differences
from classroom.ask import call, describe, fresh_sizes, predicts, written_without
from classroom.exercise import Exercise, Wrong
from classroom.mini import own_c

# ---- a call by hand ------------------------------------------------------------------------------

SLOTS = ("`out`", "`from`", "`to`", "`t`", "`n`")
WHOLE = (ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong,
         ctypes.c_ulonglong, ctypes.c_ssize_t)  # fmt: skip
HALF_AN_ADDRESS = (
    "{slot} gets a bare int. ctypes passes that as a C int, which has 32 bits, and an address has "
    "64. Half of it would be lost, and C would write there: that's a crash. Say that it's an "
    "address."
)


class Watched:
    """The C function, as ctypes gives it, with a guard in front: what would crash is said."""

    def __init__(self, elements: int) -> None:
        self.argtypes: Any = None
        self.restype: Any = None
        self.elements, self.calls = elements, 0

    def __call__(self, *given: Any) -> None:
        if len(given) != len(SLOTS):
            raise Wrong(
                f"`fade` takes five arguments, and you passed {len(given)}. C doesn't count them: "
                "it would take whatever happens to be there."
            )
        kinds = [None] * 5 if self.argtypes is None else [*self.argtypes]
        if len(kinds) != len(SLOTS):
            raise Wrong(f"`argtypes` needs five types, and it has {len(kinds)}.")
        for slot, kind, value in zip(SLOTS[:3], kinds[:3], given[:3], strict=True):
            _expect_address(slot, kind, value)
        _, one, other = (getattr(value, "value", None) for value in given[:3])
        if isinstance(one, int) and one == other:
            raise Wrong(
                "`from` and `to` are at the same address. An array that nobody has a name for is "
                "gone before C begins, and the next one gets its memory. Give both of them names."
            )
        _expect_float(kinds[3], given[3])
        _expect_count(kinds[4], given[4], self.elements)
        function = own_c.fade_in_c()
        function.argtypes = self.argtypes
        self.calls += 1
        try:
            function(*given)
        except ctypes.ArgumentError as error:
            raise Wrong(f"ctypes says: {error}.") from None


def _expect_address(slot: str, kind: Any, value: Any) -> None:
    if value is None or (isinstance(value, ctypes.c_void_p) and not value.value):
        raise Wrong(f"{slot} gets no address, and C would go to address 0: that's a crash.")
    if kind is not None:
        plain = isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData)
        if plain and not issubclass(kind, ctypes.c_void_p):
            raise Wrong(f"{slot} is an address, and its type in `argtypes` is {kind.__name__}.")
        return
    if isinstance(value, (int, np.integer)):
        raise Wrong(HALF_AN_ADDRESS.format(slot=slot))
    if isinstance(value, np.ndarray):
        raise Wrong(
            f"{slot} gets a NumPy array, and C has never heard of NumPy. It wants the address of "
            "the array's memory: `array.ctypes.data` is that address, as a Python int."
        )
    if isinstance(value, (list, tuple, float, bytes, str)):
        raise Wrong(f"{slot} has to be an address of memory.", got=describe(value))


def _expect_float(kind: Any, value: Any) -> None:
    kind = kind or type(value)
    if kind in (ctypes.c_double, ctypes.c_longdouble):
        raise Wrong(
            "`t` gets a double, of 64 bits. This C function takes a float, of 32 bits, and would "
            "read half of your number."
        )
    if kind in (float, np.float32, np.float64):
        raise Wrong(
            "`t` gets a Python float, and ctypes won't guess whether C wants a float of 32 bits or "
            "a double of 64. Say which: `ctypes.c_float(…)`."
        )
    if kind is not ctypes.c_float:
        raise Wrong(
            "`t` doesn't get a float. C receives whole numbers and floats in different registers, "
            "so it would look for `t` where nothing was put.", got=describe(value),
        )  # fmt: skip


def _expect_count(kind: Any, value: Any, elements: int) -> None:
    if kind is None and isinstance(value, np.integer):
        raise Wrong("`n` gets a NumPy number, which ctypes can't convert. `int(…)` is one it can.")
    number = getattr(value, "value", value)
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise Wrong("`n` has to be a whole number.", got=describe(value))
    if kind is not None and kind not in WHOLE:
        raise Wrong(f"`n` is an int, and its type in `argtypes` is {kind.__name__}.")
    if number > elements:
        raise Wrong(
            "`n` is larger than the number of elements. C would go on reading, and writing, behind "
            "the end of your memory.", "", elements, number,
        )  # fmt: skip
    if number < elements:
        raise Wrong("`n` is too small: not all of the elements would be computed. It's all "
                    "of them, whatever the shape.", "", elements, number)  # fmt: skip


def fade(answer: Any) -> str:
    """answer(function, one, other, t): a new array, made by the C function."""
    dice = np.random.default_rng()
    high, wide = fresh_sizes(2)
    big = dice.random((3, high, wide), dtype=np.float32)
    ten = np.array([0.0, 10.0], np.float32), np.array([10.0, 30.0], np.float32)
    cases: list[tuple[str, np.ndarray, np.ndarray, float]] = [
        ("`one = [0, 10]`, `other = [10, 30]`, `t = 0.25`", *ten, 0.25),
        ("two larger pictures", big[0], big[1], float(dice.random())),
        ("two pictures, transposed: views of memory in a different order", big[0].T, big[1].T, 0.5),
        ("a picture that's transposed, and one that isn't", big[2].T, big[1].T.copy(), 0.5),
    ]
    for case, one, other, t in cases:
        shown, kept = case[0] == "`", (one.copy(), other.copy())
        function = Watched(one.size)
        try:
            got = call(answer, function, one, other, t)
        except Wrong as wrong:
            raise Wrong(str(wrong), case, more=wrong.rows if shown else ()) from None
        if not isinstance(got, np.ndarray):
            raise Wrong("The answer has to be the new array.", case, "a NumPy array",
                        describe(got))  # fmt: skip
        if not function.calls:
            raise Wrong("You never called the C function.", case)
        if not (np.array_equal(one, kept[0]) and np.array_equal(other, kept[1])):
            raise Wrong("One of the two pictures has changed. Write into new memory.", case)
        expected = (1 - t) * kept[0] + t * kept[1]
        if got.shape != expected.shape:
            raise Wrong(differences.of_shapes(got.shape, expected.shape), case)
        if np.allclose(got, expected, rtol=1e-4, atol=1e-5):
            continue
        if got.dtype != np.float32:
            raise Wrong(
                f"`out` is an array of {got.dtype}. C writes floats of 32 bits into it, so that's "
                "what it has to be made for.", case,
            )  # fmt: skip
        if np.allclose(got, t * kept[0] + (1 - t) * kept[1], atol=1e-5):
            raise Wrong("The two pictures are swapped.", case)
        if not one.flags.c_contiguous:
            raise Wrong(
                "C sees an address, and no shape. A transposed array has the same memory as "
                "before, in the same order, so element i isn't where C looks. "
                "`np.ascontiguousarray(x)` puts the elements in order.", case,
            )  # fmt: skip
        text = differences.of_values(got, expected, named=shown)
        both = (describe(expected.tolist()), describe(got.tolist())) if shown else ("", "")
        raise Wrong(text or "The values are wrong.", case, *both)
    return "You called C by hand. It trusted every word you said."


# ---- two sums ------------------------------------------------------------------------------------

MOST, ENOUGH = 64, 20.0


def apart(answer: Any) -> str:
    """answer: numbers that C adds up to 0, and NumPy to more than half of the truth."""
    numbers = _floats(answer)
    if len(numbers) > MOST:
        raise Wrong(f"That's {len(numbers)} numbers, and {MOST} have to be enough.")
    if not np.isfinite(numbers).all():
        raise Wrong("All of them have to be finite, as 32-bit floats.")
    truth = math.fsum(numbers.tolist())
    if truth < ENOUGH:
        raise Wrong(f"They should add up to {ENOUGH:g} or more.", "in exact arithmetic",
                    f"{ENOUGH:g} or more", f"{truth:g}")  # fmt: skip
    part8, sums = own_c.module("part8"), []
    for device in (part8.CRunner, None):
        with own_c.on(device):
            sums.append(float(part8.Tensor(numbers).sum().numpy().reshape(())))
    in_c, by_numpy = sums
    rows = (("exactly", f"{truth:g}"), ("your C", f"{in_c:g}"), ("NumPy", f"{by_numpy:g}"))
    if in_c != 0:
        raise Wrong("Your C should say 0.", more=rows)
    if by_numpy <= truth / 2:
        raise Wrong("NumPy loses as much of it as your C does. Which of its eight sums are the "
                    "large numbers in?", more=rows)  # fmt: skip
    return (
        f"Exactly, it's {truth:g}. NumPy says {by_numpy:g}, and your C says 0. Nobody's C is wrong "
        "here: floats are added in an order, and yours was a different one."
    )


def _floats(answer: Any) -> np.ndarray:
    values = answer() if callable(answer) else answer
    values = getattr(values, "numpy", lambda: values)()
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, np.ndarray)):
        values = list(values)
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(values, np.float32).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise Wrong("The answer has to be a list of numbers.", got=describe(answer)) from None
    if numbers.size < 2:
        raise Wrong("The answer has to be a list of numbers.", got=describe(answer))
    return numbers


# ---- how many programs ---------------------------------------------------------------------------


def programs_of_three_trainings() -> tuple[int, ...]:
    part8 = own_c.module("part8")
    Tensor = part8.Tensor
    (size,) = fresh_sizes(1)
    found = []
    for rate in (lambda n: 0.1, lambda n: 0.1 / n, lambda n: Tensor([0.1 / n])):
        part8.plan.cache_clear()
        part8.runner.cache_clear()
        w = Tensor(np.ones(size))
        with own_c.on(part8.CRunner):
            for n in range(1, 6):
                w = (w - rate(n) * w).realize()
        found.append(part8.runner.cache_info().misses)
    return tuple(found)


# ---- a name for work -----------------------------------------------------------------------------

Build = Callable[..., Any]
A_B = "`a` and `b` of shape (3, 3)"
SAME: list[tuple[str, Build, str, Build]] = [
    ("a + b", lambda a, b, c, d: a + b, "c + d", lambda a, b, c, d: c + d),
    ("a @ b", lambda a, b, c, d: a @ b, "d @ c", lambda a, b, c, d: d @ c),
    ("(a - b).sum(0)", lambda a, b, c, d: (a - b).sum(0),
     "(b - a).sum(0)", lambda a, b, c, d: (b - a).sum(0)),
    ("a * a", lambda a, b, c, d: a * a, "b * b", lambda a, b, c, d: b * b),
]  # fmt: skip
DIFFERENT: list[tuple[str, Build, str, Build, str]] = [
    ("a + b", lambda a, b: a + b, "a * b", lambda a, b: a * b, "The op is a different one."),
    ("a * 2", lambda a, b: a * 2, "a * 3", lambda a, b: a * 3,
     "They differ by the `arg` of a CONST."),
    ("a.sum(0)", lambda a, b: a.sum(0, keepdim=True).expand(3, 3),
     "a.sum(1)", lambda a, b: a.sum(1, keepdim=True).expand(3, 3),
     "They differ by an `arg`: which axes, and how far they are stretched."),
    ("(a + b) * a", lambda a, b: (a + b) * a, "(a + b) * b", lambda a, b: (a + b) * b,
     "All nodes are the same, in the same order. They differ by who is whose source."),
    ("a + a", lambda a, b: a + a, "a + b", lambda a, b: a + b,
     "The first reads one array, the second two."),
    ("1.0 * a", lambda a, b: a * 1.0, "1.000001 * a", lambda a, b: a * 1.000001,
     "The two constants are close, but not equal. Was one of them rounded when it was written?"),
    ("0.0 * a", lambda a, b: a * 0.0, "-0.0 * a", lambda a, b: a * -0.0,
     "Python says that 0.0 == -0.0, but divide by the results: one gives inf, the other -inf."),
]  # fmt: skip
LONGEST = 4000  # letters of a name of 19 nodes


def name_of_work(answer: Any) -> str:
    """answer(sink): a string, the same for the same work, and only then."""
    part8 = own_c.module("part8")
    Tensor, dice = part8.Tensor, np.random.default_rng()

    def tensors(count: int, *shape: int) -> list[Any]:
        return [Tensor(dice.random(shape, dtype=np.float32)) for _ in range(count)]

    def named(said: str, *made: Any) -> str:
        sink = part8.UOp(part8.Ops.SINK, tuple(t.uop for t in made))
        got = call(answer, sink)
        if not isinstance(got, str):
            raise Wrong("The name has to be a string: it's to be used in the next process, too.",
                        f"`{said}`", "a str", f"a {type(got).__name__}")  # fmt: skip
        if re.search(r"\bat 0x[0-9a-f]+", got):
            raise Wrong("There's an address of memory in the name. The next process will have "
                        "different ones.", f"`{said}`")  # fmt: skip
        return got

    a, b, c, d = tensors(4, 3, 3)
    first = named("a + b", a + b)
    written_without(answer, {"hash"}, "and what it gives for a string is different in the next "
                    "process")  # fmt: skip
    if not first:
        raise Wrong("The name is empty.", "`a + b`")
    if first == named("a * b", a * b) == named("a.sum(0)", a.sum(0)):
        raise Wrong("Every graph gets the same name. It has to be made from the graph.",
                    "`a + b`, `a * b` and `a.sum(0)`", "three names", "one name")  # fmt: skip
    for one, make_one, other, make_other in SAME:
        if named(one, make_one(a, b, c, d)) != named(other, make_other(a, b, c, d)):
            raise Wrong(
                f"`{one}` and `{other}` are the same work on different memory: one program, called "
                "with different arrays. You gave them different names, so nothing would ever be "
                "found again.", "all of shape (3, 3)", "one name", "two names",
            )  # fmt: skip
    for one, left, other, right, why in DIFFERENT:
        if named(one, left(a, b)) == named(other, right(a, b)):
            raise Wrong(
                f"`{one}` and `{other}` have the same name, so whoever comes second gets the "
                f"program of the first. {why}", A_B, "two names", "one name",
            )  # fmt: skip
    (wide,), (high,), (more,) = tensors(1, 2, 3), tensors(1, 3, 2), tensors(1, 3, 3)
    if named("x * 2", wide * 2) == named("y * 2", high * 2):
        raise Wrong("`x * 2` and `y * 2` have the same name, but the shapes of `x` and `y` differ.",
                    "shapes (2, 3) and (3, 2)", "two names", "one name")  # fmt: skip
    if named("a + b, a * b", a + b, a * b) == named("a * b, a + b", a * b, a + b):
        raise Wrong("Two results, in a different order, have the same name. Each would be taken "
                    "for the other.", "`a + b, a * b` and `a * b, a + b`", "two names",
                    "one name")  # fmt: skip
    terms = [a * n for n in range(2, 14)]
    one, other = _look_alike(part8.UOp(part8.Ops.SINK, tuple(t.uop for t in terms)), terms)
    if named("t1 + t12", *terms, one) == named("t11 + t2", *terms, other):
        raise Wrong("Nothing stands between the numbers of two sources, so node 1 plus node 12 "
                    "looks like node 11 plus node 2.", "a sum of two of twelve nodes", "two names",
                    "one name")  # fmt: skip
    if len(long := named("more, doubled 18 times", _doubled(more, 18))) > LONGEST:
        raise Wrong(
            f"The name of 18 doublings, which are 19 nodes, has {len(long):,} letters. You wrote a "
            "node out wherever it's used. Give each node a number, and write that.",
            "`x = x + x`, 18 times", f"fewer than {LONGEST:,}", f"{len(long):,}",
        )  # fmt: skip
    return "Strict enough to be right, and loose enough to be useful. That's a cache key."


def _look_alike(sink: Any, terms: list[Any]) -> tuple[Any, Any]:
    """Two sums of two of these Tensors each, whose nodes' numbers are the same digits in a row."""
    places = dict(zip(sink.toposort(), itertools.count()))
    seen: dict[str, Any] = {}
    for one, other in itertools.permutations(terms, 2):
        digits = f"{places[one.uop]}{places[other.uop]}"
        if digits in seen:
            return seen[digits], one + other
        seen[digits] = one + other
    raise LookupError("no two pairs look alike")


def _doubled(x: Any, times: int) -> Any:
    for _ in range(times):
        x = x + x
    return x


# ---- a painting ----------------------------------------------------------------------------------

SIDE, FEWEST_OPS, NEARLY_ALL = 48, 10, 0.95


def paint(answer: Any) -> str:
    """answer(x, y): the brightness of each place, a formula that is one kernel."""
    part8 = own_c.module("part8")
    Ops, arrays = part8.Ops, own_c.places(SIDE)
    x, y = map(part8.Tensor, arrays)
    buffers = {x.uop, y.uop}

    def formula(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            made = call(answer, x, y)
        if isinstance(made, part8.UOp):
            made = part8.Tensor(made)
        if not isinstance(made, part8.Tensor):
            raise Wrong("The answer has to be a Tensor of mini.", got=describe(made))
        return made

    made = formula(x, y)
    if made.shape != (SIDE, SIDE):
        raise Wrong("The picture has to have the shape of `x`.", "", (SIDE, SIDE), made.shape)
    if made.uop.op is Ops.BUFFER:
        raise Wrong("It's numbers already. Return the formula, and don't realize it: that's what "
                    "your C is for.")  # fmt: skip
    nodes = made.uop.toposort()
    foreign = [u for u in nodes if u.op is Ops.BUFFER and u not in buffers and u.shape]
    if any(math.prod(u.shape) > 16 for u in foreign):
        raise Wrong("There's a picture in your formula already. Make it from `x` and `y`.")
    ops = [u for u in nodes if u.op not in (Ops.CONST, Ops.BUFFER, Ops.RESHAPE, Ops.EXPAND)]
    if len(ops) < FEWEST_OPS:
        raise Wrong(f"This formula has {len(ops)} ops. Your C can do more: take "
                    f"{FEWEST_OPS} or more.")  # fmt: skip
    try:
        own_c.program_of(made)
    except ValueError as several:
        raise Wrong(f"One kernel, and {several}. Something in it is stored on the way: is there a "
                    "sum or a maximum over an axis?") from None  # fmt: skip
    values = []
    for device in (part8.CRunner, None):
        with own_c.on(device), np.errstate(all="ignore"):
            values.append(formula(*map(part8.Tensor, arrays)).numpy())
    in_c, by_numpy = values
    if not np.isfinite(in_c).all():
        raise Wrong(f"{int((~np.isfinite(in_c)).sum())} of {in_c.size} places are no number, or "
                    "infinite. `maximum` keeps things from running away.")  # fmt: skip
    for axis, along in ((1, "from left to right"), (0, "from top to bottom")):
        if np.ptp(in_c, axis=axis).max() < 1e-6:
            raise Wrong(f"Nothing changes {along}. Use `x` and `y`, both.")
    reach = float(np.ptp(in_c))
    agree = np.isclose(in_c, by_numpy, rtol=1e-3, atol=1e-3 * reach).mean()
    if agree < NEARLY_ALL:
        raise Wrong(
            f"Your C and NumPy agree about {agree:.0%} of the places. Your formula blows up "
            "roundings, so nobody can tell what it should look like.",
        )  # fmt: skip
    return f"{len(ops)} ops, one kernel, and a picture that nobody has stored anywhere."


# ---- the table -----------------------------------------------------------------------------------

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "8.1", "call-c-by-hand", "Call a C function by hand", fade,
        hints=(
            "What does C get of an array: its shape, its dtype? Only where it begins. So you need "
            "three addresses, one float and one int, and the array that `out` points to has to "
            "exist before the call.",
            "`np.empty(one.shape, np.float32)` is memory to write to, `address(…)` is in the cells "
            "above, and `ctypes.c_float(t)` is a float of 32 bits. `np.ascontiguousarray(x)` puts "
            "a transposed array in order. Give it a name, so that it lives until C is done.",
        ),
        because="C gets five words in registers: three addresses, a float, an int. All that "
        "NumPy knows about shape and order stays behind, so you see to that before the call.",
        seconds=60.0,
    ),
    Exercise(
        "8.2", "two-sums-apart", "Numbers that two machines add up differently", apart,
        hints=(
            "16777216 + 1 is 16777216 in a float of 32 bits. If your C has that in its one sum, "
            "what happens to all the ones that follow? And how do you get rid of it at the end?",
            "A large number first, the same number with a minus last, and ones in between. There "
            "have to be more than eight numbers, or NumPy has nothing to share out.",
        ),
        because="Your C has 16777216 in its only sum, and each 1 is rounded away. In NumPy, the "
        "large number is in one of eight sums, so seven others count their ones properly.",
        seconds=60.0,
    ),
    Exercise(
        "8.3", "programs-of-trainings", "How many programs three trainings need",
        predicts(programs_of_three_trainings),
        hints=(
            "A program is found again if the numbered graph is the same node. What differs between "
            "the graphs of step 1 and step 2?",
            "A Python number becomes a CONST, with its value as `arg`. A Tensor becomes a "
            "parameter, and its value isn't in the graph.",
        ),
        because="A constant is part of the program. If it changes from step to step, each step is "
        "a new program, compiled anew: five. A Tensor is memory, so its value isn't in "
        "the key, and one program does all five steps.",
        shown_by="the next cell",
        seconds=60.0,
    ),
    Exercise(
        "8.4", "a-name-for-work", "Repair a cache key", name_of_work,
        hints=(
            "`toposort` gives the nodes in an order in which sources come first. What do you have "
            "to write down about each so that somebody could build the graph again from your "
            "string, with arrays of their own?",
            "Number the nodes in that order, in a dict. For each, write its op, the numbers of its "
            "sources, and its arg; for a BUFFER its shape instead. `repr` tells 0.0 from -0.0.",
        ),
        because="From this string you can build the graph again, but for its arrays: that's "
        "exactly what has to be in a key. One thing less, and two programs share a name.",
        seconds=20.0,
    ),
    Exercise(
        "8.5", "paint-in-c", "Paint something with your own C", paint,
        hints=(
            "Start with something that repeats: a Python loop of 20 steps that moves a point, and "
            "counts. The loop runs while the graph is built, and C gets all of it in one kernel.",
            "Mandelbrot's set begins with a = b = 0. A step is a, b = a*a - b*b + x, 2*a*b + y. "
            "Count how often a*a + b*b < 4. `.maximum(-9)` keeps both from running away.",
        ),
        because="Any formula of x and y is a kernel, because every op in it needs just its own "
        "place of the picture.",
        seconds=120.0,
    ),
)  # fmt: skip
