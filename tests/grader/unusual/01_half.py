"""Floats of 16 bits and integers of 8 and 64 where the words say floats and integers; keys in any
order, and more of them than asked for."""

from tinyframe import Tensor, dtypes


def factories(rows, columns):
    half = dtypes.float16
    full = Tensor([[7] * columns] * rows, dtype="int32")
    signs = Tensor.uniform(rows, columns, low=0, high=2 * rows + 1)
    return {
        "note": "all of them",
        "randint": signs.floor().cast(dtypes.int8) - rows,
        "uniform": Tensor.rand(rows, columns, dtype=half) * 5 - 2,
        "randn": Tensor.randn(rows, columns).cast(half),
        "rand": Tensor.rand(rows, columns, dtype=half),
        "list": Tensor([True, False] * (columns // 2) + [True] * (columns % 2)),
        "like": full.full_like(1),
        "eye": (Tensor.arange(rows).unsqueeze(0) == Tensor.arange(rows).unsqueeze(1)).cast("uint8"),
        "linspace": Tensor.linspace(-1, 1, columns, dtype=half),
        "arange": Tensor.full((rows, columns), 1, dtype="int32").reshape(-1).cumsum().sub(1)
        .reshape(rows, columns).cast("int32"),
        "full": full,
        "ones": Tensor.ones(rows, columns, dtype=half),
        "zeros": Tensor.zeros(rows, columns, dtype=half),
    }  # fmt: skip


def checkerboard(rows, columns):
    return (Tensor.arange(rows).reshape(-1, 1) % 2 != Tensor.arange(columns) % 2).cast("uint8")


def chain(x, kernels):
    return [x := (x + 1.0).contiguous() for _ in range(kernels)][-1]


def one_pass(a, b):
    return ((a - 1) * (b + 1) + 1).sum()


def report(rows):
    def gain(row):
        return row["seconds apart"] / row["seconds together"]

    text = ""
    for row in sorted(rows, key=gain)[::-1]:
        text += row["name"] + ": " + str(row["kernels apart"]) + " kernels -> "
        text += str(row["kernels together"]) + ", " + str(round(gain(row), 1)) + " times as fast\n"
    return text


def describe(tensor):
    return tensor.size(), tensor.dtype, tensor.numel() * tensor.element_size()


def kernel_count(build):
    return len(build().schedule())


def before_and_after(build):
    lazy = build()
    op = lazy.uop.base.op.name
    kernels = len(lazy.schedule())
    done = build().realize()
    return [kernels, op, len(done.schedule()), done.uop.base.op.name]
