"""A plan of your own

Hint: Which operand of `k.table.reads` has a step of -1, and along which loop of `k.around`?
Hint: `next((r for r in k.around for x in k.table.reads if x.step(r) == -1), None)` is that loop,
or None. The Nest is `Nest(tiles=((VECTOR, r, k.lanes),))`.
Because: A plan is a condition and a nest. The condition is a step of -1 along a loop of results;
the nest has vectors along that loop, which are turned around as they're loaded.
Right: The plans have a new row. What BEAM needed seconds for is now decided at once.
"""

from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, fresh_sizes, same_values, wrong_if
from classroom.lessons.fast.shared import memory
from classroom.race import installed, own_plan, ready
from classroom.tiles import planned, workload
from tinyframe import Context, Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.optimize.plans import Nest, Workload
from tinyframe.viz.kernels import one_kernel


def check(answer) -> None:
    """answer(k): the Nest for a kernel that reads backwards along a loop of results, else None."""
    shown = memory(300, 200)
    m, n = fresh_sizes(2)
    other = Tensor(np.random.default_rng().random((m, 4 * n), np.float32)).realize()
    cases = {  # and the loop that goes backwards
        "`x[:, ::-1].sum(axis=0)`": (shown[:, ::-1].sum(axis=0), 0),
        "`(x[:, ::-1] * 2).max(axis=0)`": ((shown[:, ::-1] * 2).max(axis=0), 0),
        "`(x[:, ::-1] * 2).contiguous()`": ((shown[:, ::-1] * 2).contiguous(), 1),
        "`(x[:, ::-1].T * 2).contiguous()`": ((shown[:, ::-1].T * 2).contiguous(), 0),
        "a different size": ((other[:, ::-1] + 1).sum(axis=0), 0),
    }
    for number, (case, (x, backwards)) in enumerate(cases.items()):
        nest = answer(plan_input(x)) if number else call(answer, plan_input(x))
        wrong_if(nest is None, "Your plan leaves this kernel alone, although it reads backwards "
                 "along one of its loops over results.", case)  # fmt: skip
        if not isinstance(nest, Nest):
            raise Wrong("The answer has to be a Nest, or None.", case, got=describe(nest))
        opts = opts_with(answer, x)
        vectors = [opt for opt in opts if opt.op is OptOps.VECTOR]
        if not vectors:
            said = ", ".join(map(str, opts)) or "no Opts"
            raise Wrong("There are no vectors in the kernel that your Nest makes.", case, got=said)
        if vectors[0].axis not in range(len(plan_input(x).around)):
            raise Wrong("Your vectors run along the loop of the reduction. Neighbours in memory "
                        "are neighbours along a loop of results.", case)  # fmt: skip
        wrong_if(vectors[0].axis != backwards, "There are two loops over results here, and your "
                 "vectors run along the one whose step isn't -1.", case)  # fmt: skip
        if vectors[0].arg != plan_input(x).lanes:
            text = "How many lanes a vector has depends on the machine: `k.lanes`."
            raise Wrong(text, case, plan_input(x).lanes, vectors[0].arg)
        with installed(own_plan(answer)), Context(NOOPT=0):
            values = ready(x)
            values()
        same_values(Tensor(values.values()), x.numpy().ravel(), case, shown=False)
    refused = {
        "`a @ b`": (memory(64, 64) @ memory(64, 64), "Nothing is read backwards here."),
        "`x.sum(axis=0)`": (shown.sum(axis=0), "Nothing is read backwards here."),
        "`x.T.contiguous()`": (shown.T.contiguous(), "Nothing is read backwards here."),
        "`x[:, ::-1].sum(axis=1)`": (
            shown[:, ::-1].sum(axis=1),
            "It reads backwards, but along the loop of the reduction, not along its results.",
        ),
        "`(x[::-1] * 2).contiguous()`": (
            (shown[::-1] * 2).contiguous(),
            "Its rows come in reverse, but within a row it goes forwards: no step is -1.",
        ),
    }
    for case, (x, why) in refused.items():
        nest = answer(plan_input(x))
        if nest is not None and nest is not False:
            raise Wrong(f"Your plan takes this kernel, too. {why}", case, "None", in_words(nest))


def in_words(nest: Any) -> str:
    """What a Nest does to the loops: `8 lanes along ridx0`."""
    return nest.words or "a Nest that changes nothing" if isinstance(nest, Nest) else describe(nest)


def plan_input(x: Tensor) -> Workload:
    item, _ = one_kernel(x, None, "plan_input")
    return workload(item.ast)


def opts_with(answer, x: Tensor) -> list[Opt]:
    with installed(own_plan(answer)):
        return planned(x).opts

# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.optimize.plans import Nest
VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
def backwards(k, loops):
    """The first loop along which something is read backwards."""
    return next((r for r in loops for x in k.table.reads if x.step(r) == -1), None)

def mirrored(k, op=VECTOR, lanes=None, loops=None):
    r = backwards(k, k.around if loops is None else loops)
    return None if r is None else Nest(((op, r, lanes or k.lanes),))

# %% wrong, each line
lambda k: Nest(((VECTOR, k.around[0], k.lanes),))  # says whose step isn't -1
lambda k: mirrored(k, lanes=4)  # says `k.lanes`
lambda k: mirrored(k, op=UPCAST)  # says no vectors
lambda k: mirrored(k, loops=k.loops)  # says not along its results
lambda k: backwards(k, k.around)  # says has to be a Nest

# %% wrong: says along the loop of the reduction
def along_the_sum(k):
    if backwards(k, k.around) is None:
        return None
    (r,) = [r for r in k.loops if r not in k.around]
    return Nest(((VECTOR, r, k.lanes),))
along_the_sum

# %% wrong: only looks at the last loop; of a transposed picture it's the first that goes backwards
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    r = k.around[-1]
    if any(x.step(r) == -1 for x in k.table.reads):
        return Nest(tiles=((OptOps.VECTOR, r, k.lanes),))

# %% right, each line
mirrored
