"""Stage 7c: split, upcast, vector and reorder keep all values, and change the loops as they say."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.mini.check import Checks, describe
from classroom.mini.checks.part7a import plain
from classroom.mini.checks.part7b import execute, kernels_of, machine_code, tensor, told

checks = Checks()

# What is computed from `a`, of shape (12, 8), and `b`, of shape (8, 16).
KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "a * 2": lambda a, b: a * 2,
    "a.permute(1, 0) + 1": lambda a, b: a.permute(1, 0) + 1,
    "a.sum(1)": lambda a, b: a.sum(1),
    "a @ b": lambda a, b: a @ b,
}


class Case:
    """A kernel's program, and what calling it should give."""

    def __init__(self, mini: Any, said: str) -> None:
        graph = KERNELS[said](tensor(mini, 12, 8), tensor(mini, 8, 16)).uop
        ((kernel, _),) = kernels_of(mini, graph)
        self.said, self.mini = said, mini
        self.program, arguments = mini.lower(kernel)
        self.wanted = kernel.memory.arg.data
        self.read = [memory.arg.data for memory in arguments[1:]]

    def expect(self, call: str, program: Any, in_c: bool = False) -> None:
        """Wrong unless a program computes the same."""
        mini = self.mini
        if not isinstance(program, mini.UOp):
            raise Wrong(f"{call} should give a program, the SINK of a graph.", call, "a UOp",
                        describe(program))  # fmt: skip
        out = np.full(self.wanted.shape, np.nan, np.float32)
        lines = mini.linearize(program)
        if in_c:
            function = machine_code(call, *mini.render(lines))
            function(*(ctypes.c_void_p(array.ctypes.data) for array in [out, *self.read]))
        else:
            try:
                execute(mini, lines, [out, *self.read])
            except (IndexError, TypeError, KeyError) as error:
                raise Wrong(f"{call} gives a program that can't run: {error}.", call) from error
        if np.isnan(out).any():
            missing = f"{int(np.isnan(out).sum())} of {out.size}"
            raise Wrong(f"{call}: {missing} elements are never stored.", call)
        if not np.allclose(out, self.wanted, rtol=1e-3, atol=1e-4):
            place = tuple(int(i) for i in np.argwhere(~np.isclose(out, self.wanted, 1e-3, 1e-4))[0])
            raise Wrong(f"{call} changes what is computed: element {place} should be "
                        f"{self.wanted[place]:.4g}, and it is {out[place]:.4g}.", call)  # fmt: skip


def sizes(mini: Any, program: Any) -> dict[int, int]:
    """{number: size} of the counters of a program."""
    ranges = [node for node in program.toposort() if node.op is mini.Ops.RANGE]
    return dict(sorted(node.arg[:2] for node in ranges))


def split_once(mini: Any, case: Case, number: int, size: int) -> tuple[Any, Any]:
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
    if found != wanted:
        text = f"{call} should leave loops of the sizes {wanted}, by number."
        raise Wrong(text, call, str(wanted), str(found))
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
    if factor and factors != [factor * size, factor]:
        raise Wrong(
            "All elements are computed, but in a different order: where the old counter stood, "
            f"outer * {size} + inner should stand.",
            call,
        )
    return program, inner


def counter_of(mini: Any, program: Any, number: int) -> Any:
    ranges = [node for node in program.toposort() if node.op is mini.Ops.RANGE]
    return next(node for node in ranges if node.arg[0] == number)


def reduces(mini: Any, program: Any) -> list[Any]:
    return [node for node in program.toposort() if node.op is mini.Ops.REDUCE]


# ---- split ---------------------------------------------------------------------------------------


@checks("split", "A loop of 12 is a loop of 3 around a loop of 4, and nothing else changes")
def split_loops(mini: Any) -> None:
    for said in ("a * 2", "a.permute(1, 0) + 1"):
        case = Case(mini, said)
        for number in (0, 1):
            split_once(mini, case, number, 4)


@checks("split", "A REDUCE runs over both loops")
def split_reduce(mini: Any) -> None:
    for said, number in (("a.sum(1)", 1), ("a @ b", 2)):
        split_once(mini, Case(mini, said), number, 2)


@checks("split", "Splitting again works, and so does a kind for the inner loop")
def split_again(mini: Any) -> None:
    case = Case(mini, "a @ b")
    program, _ = mini.split(case.program, 0, 4)
    program, inner = mini.split(program, 1, 8)
    program, _ = mini.split(program, 2, 2)
    case.expect("three splits of a @ b", program)
    _, inner = mini.split(case.program, 1, 8, ("VECTOR",))
    if inner.arg != (3, 8, "VECTOR"):
        raise Wrong(
            "What `kind` holds comes after number and size in the arg of the inner RANGE.",
            "split(a @ b, 1, 8, ('VECTOR',))",
            "(3, 8, 'VECTOR')",
            describe(inner.arg),
        )


@checks("split", "What doesn't divide is a ValueError")
def split_uneven(mini: Any) -> None:
    case = Case(mini, "a * 2")
    try:
        got = mini.split(case.program, 0, 5)
    except ValueError:
        return
    raise Wrong("5 does not divide 12: two rows would be left over.", "split(a * 2, 0, 5)",
                "ValueError", describe(type(got).__name__))  # fmt: skip


# ---- upcast --------------------------------------------------------------------------------------


@checks("upcast", "Each iteration stores several elements", needs=("split",))
def upcast_stores(mini: Any) -> None:
    for said, number, size in (("a * 2", 0, 4), ("a.permute(1, 0) + 1", 1, 3), ("a.sum(1)", 0, 2)):
        case = Case(mini, said)
        call = f"upcast({said}, {number}, {size})"
        program = mini.upcast(case.program, number, size)
        case.expect(call, program)
        before, found = sizes(mini, case.program), sizes(mini, program)
        if found.get(number) != before[number] // size:
            raise Wrong(f"{call}: the loop should have {before[number] // size} iterations.", call,
                        str(before[number] // size), str(found.get(number)))  # fmt: skip
        if len(program.src) != size:
            raise Wrong(f"{call} should store {size} elements in each iteration.", call,
                        f"{size} STOREs", f"{len(program.src)} STOREs")  # fmt: skip
        if len(found) != len(before):
            raise Wrong("The inner counter is still there. It should be 0 in the first copy, 1 in "
                        "the second, and so on.", call, f"{len(before)} RANGEs",
                        f"{len(found)} RANGEs")  # fmt: skip


@checks("upcast", "Twice, for a tile of a @ b: 4 rows and 2 columns", needs=("split",))
def upcast_twice(mini: Any) -> None:
    case = Case(mini, "a @ b")
    tile = mini.upcast(mini.upcast(case.program, 0, 4), 1, 2)
    case.expect("upcast(upcast(a @ b, 0, 4), 1, 2)", tile)


# ---- vector --------------------------------------------------------------------------------------


@checks("vector", "Eight elements at a time", needs=("split",), seconds=30)
def vectors(mini: Any) -> None:
    for said, number in (("a * 2", 1), ("a @ b", 1)):
        case = Case(mini, said)
        call = f"vector({said}, {number}, 8)"
        program = mini.vector(case.program, number, 8)
        case.expect(call, program, in_c=True)
        lanes = [node for node in program.toposort() if node.op is mini.Ops.RANGE and node.arg[2:]]
        if len(lanes) != 1 or lanes[0].arg[1:] != (8, "VECTOR"):
            raise Wrong(
                "The inner RANGE needs the kind ('VECTOR',), so that no loop is written for it.",
                call,
                "(…, 8, 'VECTOR')",
                describe([n.arg for n in lanes]),
            )


@checks(
    "vector", "A vector in a tile: the way to a fast matmul", needs=("split", "upcast"), seconds=30
)
def vector_tile(mini: Any) -> None:
    case = Case(mini, "a @ b")
    tile = mini.upcast(mini.upcast(mini.vector(case.program, 1, 4), 1, 2), 0, 4)
    case.expect("a tile of 4 × 2 vectors of 4", tile, in_c=True)


@checks("vector", "What vectors can't do is a ValueError", needs=("split",), seconds=30)
def no_vectors(mini: Any) -> None:
    a = tensor(mini, 8, 8)
    refused = [
        ("a.permute(1, 0) + 1", (a.permute(1, 0) + 1), 0,
         "What is loaded lies side by side, but what is stored doesn't: it's a whole row apart."),
        ("a.permute(1, 0) + 1", (a.permute(1, 0) + 1), 1,
         "What is stored lies side by side, but what is loaded doesn't: it's a whole row apart."),
        ("a.flip(1) + 1", (a.flip(1) + 1), 1,
         "These are loaded from the last to the first, and a vector has them the other way round."),
        ("a.sum(1)", a.sum(1), 1,
         "This loop is added up: the lanes would have to be, too, and nobody does that."),
        ("a.max(0)", a.max(0), 0, "There is no maximum of vectors in C."),
        ("a.exp()", a.exp(), 1, "There is no exp2f of vectors in C."),
        ("a.sum(1, keepdim=True) as 8 equal columns", mini.Tensor(
            mini.UOp(mini.Ops.EXPAND, (tensor(mini, 8, 1).uop * 2,), (8, 8))), 1,
         "All lanes would store the same value, and a number isn't a vector."),
    ]  # fmt: skip
    for said, graph, number, why in refused:
        ((kernel, _),) = kernels_of(mini, graph.uop)
        program = mini.lower(kernel)[0]
        try:
            mini.vector(program, number, 8)
        except ValueError:
            continue
        raise Wrong(why, f"vector({said}, {number}, 8)", "ValueError", "a program")


# ---- reorder -------------------------------------------------------------------------------------


@checks("reorder", "The first number is the outermost loop")
def reordered(mini: Any) -> None:
    case = Case(mini, "a @ b")
    for numbers, wanted in (((1, 0), [16, 12]), ((0, 1), [12, 16])):
        call = f"reorder(a @ b, {numbers[0]}, {numbers[1]})"
        program = mini.reorder(case.program, *numbers)
        case.expect(call, program)
        opened = [node.arg[1] for node in mini.linearize(program) if node.op is mini.Ops.RANGE]
        if opened[:2] != wanted:
            raise Wrong(f"The outer loops should have the sizes {wanted}, the outermost first.",
                        call, str(wanted), str(opened[:2]))  # fmt: skip


@checks("reorder", "Three loops in any order, and the rest stays where it is", needs=("split",))
def reordered_three(mini: Any) -> None:
    case = Case(mini, "a * 2")
    program, inner = mini.split(case.program, 0, 4)
    names = sizes(mini, program)
    for numbers in ((2, 0, 1), (1, 2, 0), (2, 1, 0)):
        call = f"reorder(a * 2 with its rows split, {', '.join(map(str, numbers))})"
        got = mini.reorder(program, *numbers)
        case.expect(call, got)
        opened = [node.arg[1] for node in mini.linearize(got) if node.op is mini.Ops.RANGE]
        wanted = [names[number] for number in numbers]
        if opened != wanted:
            raise Wrong(f"The loops should have the sizes {wanted}, the outermost first.", call,
                        str(wanted), str(opened))  # fmt: skip
    square, _ = mini.split(Case(mini, "a @ b").program, 1, 4)
    Case(mini, "a @ b").expect("reorder(a @ b with a loop of 16 split into 4 and 4, 3, 1)",
                               mini.reorder(square, 3, 1))  # fmt: skip
    swapped = mini.reorder(program, 2, 0)
    if sorted(sizes(mini, swapped)) != [0, 1, 2]:
        text = "Loops 2 and 0 trade places, and loop 1 keeps its number. Now two have the same one."
        call = "reorder(a * 2 with its rows split, 2, 0)"
        raise Wrong(text, call, "0, 1 and 2", ", ".join(map(str, sizes(mini, swapped))))
    opened = [node.arg[1] for node in mini.linearize(swapped) if node.op is mini.Ops.RANGE]
    if opened != [4, 8, 3]:
        raise Wrong(
            "Loops 2 and 0 trade places, and loop 1 stays between them.",
            "reorder(a * 2 with its rows split, 2, 0)",
            "[4, 8, 3]",
            str(opened),
        )
    case.expect("reorder(a * 2 with its rows split, 2, 0)", swapped)
