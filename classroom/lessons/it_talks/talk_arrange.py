"""Tiles wherever they fit

Hint: Which loops make copies of a result, and which one only adds up for it? The first kind are in
the place of the STORE. Of these, one becomes lanes and another one rows.
Hint: `UOp(Ops.SINK, (store.src[1],)).toposort()` has the RANGEs of the outer loops, and each has
the arg (number, size). Try `vector(program, number, size)` for one after the other, the last loop
and the widest size first, and catch the ValueError. Then try `upcast` on those that are left.
Because: Lanes do several columns in one instruction, and rows use each loaded vector several times.
A loop that adds up can't be tiled like that: its parts belong to one sum.
Right: Any program goes in, and what comes out means the same and loads far less.
"""

from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.mini.own_c import module, program_of

SECONDS = 60.0

MOST = 1.5  # loads for each instruction that multiplies: with 4 rows of lanes, 5 for 4
FITTING = "`(64, 48) @ (48, 96)`"


def check(answer) -> None:
    """answer(program): the same program with other loops."""
    part8 = module("part8")
    Tensor, dice = part8.Tensor, np.random.default_rng()

    def ones(*shape: int) -> Any:
        return Tensor(dice.standard_normal(shape))

    a, b, odd, more = ones(64, 48), ones(48, 96), ones(37, 41), ones(41, 43)
    cases = {
        FITTING: a @ b,
        "`(37, 41) @ (41, 43)`, where no tile fits": odd @ more,
        "a product of two transposed matrices": b.permute(1, 0) @ a.permute(1, 0),
        "a sum of whole columns": a.sum(0),
        "the largest of each row": a.max(1),
        "a single sum": a.sum(),
        "`a * a + 1`, where nothing is added up": a * a + 1,
        "`x * 2`, with a single loop": Tensor(np.ones(96)) * 2,
    }
    for case, tensor in cases.items():
        program = program_of(tensor)
        try:
            got = call(answer, program)
        except ValueError as error:
            if type(error) is not ValueError:  # not one of stage 7c's
                raise
            raise Wrong(
                f"A ValueError came through ({error}). Where something doesn't fit, catch it, and "
                "try the next; if nothing fits, return the program as it is.",
                case,
            ) from None
        wrong_if(
            not isinstance(got, part8.UOp) or got.op is not part8.Ops.SINK,
            "The answer has to be a program: a SINK, as it was given.",
            case,
            got=describe(got),
        )
        if case == FITTING:
            lanes, loads = _counted(got)
            wrong_if(
                (lanes, loads) == _counted(program),
                "Your function returned the program unchanged.",
                case,
            )
        wrong_if(
            not _computes(got, tensor),
            "It no longer computes the same thing. Did you tile a loop "
            "that adds up? Those aren't in the place of the STORE.",
            case,
        )
        if case == FITTING:
            wrong_if(not lanes, "It has rows, but no lanes.", case)
            wrong_if(
                loads > MOST,
                "It has lanes, but each vector that's loaded is used only once. With "
                "rows as well, it's used for all of them.",
                case,
            )


def _counted(program: Any) -> tuple[int, float]:
    """The most lanes of a multiplication; loads for each instruction that multiplies floats."""
    lanes, Ops = module("part7b").lanes, module("part4").Ops
    nodes = program.toposort()
    products = [lanes(n) for n in nodes if n.op is Ops.MUL and n.dtype is float]
    return max(products), sum(n.op is Ops.LOAD for n in nodes) / len(products)


def _computes(program: Any, tensor: Any) -> bool:
    """Whether C makes of a program what this Tensor is."""
    part4, part4b, part7b, part8 = (module(f"part{n}") for n in ("4", "4b", "7b", "8"))
    (kernel,) = part4b.cut(part4.UOp(part4.Ops.SINK, (tensor.uop,)))
    _, arguments = part7b.lower(kernel)
    out = np.zeros(kernel.value.shape, np.float32)
    try:
        run = part8.CRunner(part7b.linearize(program))
    except Exception:  # whatever their stages do with a sum that has lost a loop
        return False
    run(out, *(memory.arg.data for memory in arguments[1:]))
    return np.allclose(out.reshape(tensor.shape), tensor.numpy(), rtol=1e-3, atol=1e-3)

# %% shared
from classroom.mini.own_c import module
def outer(program):
    part4 = module("part4")
    places = part4.UOp(part4.Ops.SINK, tuple(s.src[1] for s in program.src)).toposort()
    return [node.arg[0] for node in places if node.op is part4.Ops.RANGE]

def tried(name, program, loops, sizes):
    for loop in reversed(loops):
        for size in sizes:
            try:
                return getattr(module("part7c"), name)(program, loop, size), loop
            except ValueError:
                pass
    return program, None

def arrange(program, lanes=(16, 8, 4), rows=(8, 4, 2)):
    loops = outer(program)
    program, taken = tried("vector", program, loops, lanes)
    return tried("upcast", program, [loop for loop in loops if loop != taken], rows)[0]

# %% wrong, each line
lambda program: program  # says returned the program unchanged
lambda program: arrange(program, rows=())  # says used only once
lambda program: arrange(program, lanes=())  # says but no lanes
lambda program: module("part7c").upcast(module("part7c").vector(program, 1, 8), 0, 8)  # says A ValueError came through
lambda program: arrange(program).toposort()  # says has to be a program

# %% wrong: any loop will do, also the one that adds up
def any_loop(program):
    Ops = module("part4").Ops
    loops = [node.arg[0] for node in program.toposort() if node.op is Ops.RANGE]
    program, taken = tried("vector", program, loops, (8,))
    return tried("upcast", program, [loop for loop in loops if loop != taken], (8, 4, 2))[0]
any_loop

# %% right: 8 lanes and 4 rows, or nothing
lambda program: arrange(program, (8,), (4,))

# %% right: two vectors of columns, and four rows
def wide(program):
    loops = outer(program)
    found, taken = tried("vector", program, loops, (8,))
    if taken is None:
        return program
    found = tried("upcast", found, [taken], (2,))[0]
    return tried("upcast", found, [loop for loop in loops if loop != taken], (4,))[0]
wide
