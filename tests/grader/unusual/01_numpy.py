"""Somebody who does everything in NumPy that the words do not keep from it."""

from time import perf_counter

import numpy as np

from tinyframe import GlobalCounters, Tensor, dtypes


def factories(rows, columns):
    shape, rng = (rows, columns), np.random.default_rng()
    full = Tensor(np.full(shape, 7, np.int32))
    return {
        "zeros": Tensor(np.zeros(shape)),
        "ones": Tensor(np.ones(shape)),
        "full": full,
        "arange": Tensor(np.arange(rows * columns, dtype=np.int32).reshape(shape)),
        "linspace": Tensor(np.linspace(-1, 1, columns)),
        "eye": Tensor(np.eye(rows, dtype=int)),
        "like": Tensor(np.ones_like(full.numpy())),
        "list": Tensor((np.arange(columns) % 2 == 0).tolist()),
        "rand": Tensor(rng.random(shape)),
        "randn": Tensor(rng.normal(size=shape)),
        "uniform": Tensor(rng.uniform(-2, 3, shape)),
        "randint": Tensor(rng.integers(-rows, rows, shape, endpoint=True)),
    }


def checkerboard(rows, columns):
    return (
        Tensor.arange(rows, dtype=dtypes.int64)[:, None].add(Tensor.arange(columns)).bitwise_and(1)
    )


def before_and_after(build):
    op = build().uop.base.op.name
    counts = np.array([len(build().schedule()), len((done := build().realize()).schedule())])
    return counts[0], np.str_(op), counts[1], np.str_(done.uop.base.op.name)


def compare(start, steps):
    table = np.zeros((2, 2))
    results = []
    for row, apart in enumerate((False, True)):
        for _ in range(2):
            GlobalCounters.reset()
            begin, tensor = perf_counter(), start()
            for step in steps:
                tensor = step(tensor).realize() if apart else step(tensor)
            result = tensor.numpy()
            table[row] = GlobalCounters.kernel_count, perf_counter() - begin
        results.append(result)
    kernels = table[:, 0].astype(int)
    return {
        "kernels together": kernels[0],
        "kernels apart": kernels[1],
        "seconds together": table[0, 1],
        "seconds apart": table[1, 1],
        "equal": np.allclose(*results, rtol=0, atol=1e-5),
    }
