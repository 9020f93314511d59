"""Counts what really runs, and adds up with a product of matrices."""

from tinyframe import GlobalCounters


def weighted(x, weights):
    return (x @ weights.reshape(-1, 1)).reshape(x.shape[0])


def kernels_of(build):
    tensor = build()
    GlobalCounters.reset()
    tensor.realize()
    return GlobalCounters.kernel_count
