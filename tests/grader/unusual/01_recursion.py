"""No loops: recursion, folds and conditions, in as few lines as can be."""

import functools
import itertools
import math
import time

from tinyframe import GlobalCounters, Tensor

describe = lambda tensor: [[*tensor.shape], repr(tensor.dtype), tensor.nbytes]  # noqa: E731


def checkerboard(rows, columns):
    if rows == 1:
        return (Tensor.arange(columns) % 2).reshape(1, columns)
    if rows * columns % 2 and columns % 2:
        return (Tensor.arange(rows * columns) % 2).reshape(rows, columns)
    return ((Tensor.arange(rows)[:, None] % 2) ^ (Tensor.arange(columns)[None] % 2)).reshape(
        rows, columns
    )


def chain(x, kernels):
    return x if kernels == 0 else (chain(x, kernels - 1) + 1).contiguous()


def one_pass(a, b):
    return sum((a * b).add(a).sub(b).flatten().reshape(1, -1).sum(axis=1, keepdim=True)[0])


def kernel_count(build):
    return len(build().schedule())


def before_and_after(build):
    op = functools.reduce(getattr, "uop.base.op.name".split("."), build())
    before = kernel_count(build)
    after = build().realize()
    return before, op, kernel_count(lambda: after), after.uop.base.op.name


def compare(start, steps):
    def go(tensor, steps, realize):
        return go(realize(steps[0](tensor)), steps[1:], realize) if steps else tensor

    def measured(run):
        run()
        GlobalCounters.reset()
        return (begin := time.monotonic(), result := run().realize()) and (
            GlobalCounters.kernel_count, time.monotonic() - begin, result.flatten().tolist()
        )  # fmt: skip

    both = [
        measured(functools.partial(go_from, go, start, steps, realize))
        for realize in (lambda tensor: tensor, Tensor.realize)
    ]
    (one, fast, here), (many, slow, there) = both
    return dict(
        zip(
            itertools.chain(*([f"{w} together", f"{w} apart"] for w in ("kernels", "seconds")),
                            ["equal"]),
            (one, many, fast, slow,
             all(math.isclose(a, b, abs_tol=1e-5) for a, b in zip(here, there, strict=True))),
            strict=True,
        )
    )  # fmt: skip


def go_from(go, start, steps, realize):
    return go(start(), steps, realize)


def report(rows):
    if not rows:
        return ""
    best = max(rows, key=lambda row: row["seconds apart"] / row["seconds together"])
    gain = best["seconds apart"] / best["seconds together"]
    line = "{name}: {kernels apart} kernels -> {kernels together}".format_map(best)
    rest = report([row for row in rows if row is not best])
    return f"{line}, {gain:.1f} times as fast" + ("\n" + rest if rest else "")
