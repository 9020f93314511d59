"""Part 5: what somebody might answer, and what they are told."""

from __future__ import annotations

from tinyframe import Tensor

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "5.1": ("about 2.5", "about 1", "about 5", "about 10"),
    "5.2": ((13, 8, 7, 14, 1), (13, 13, 13, 13, 13), (8, 13, 7, 14, 1), (13, 8, 7, 13, 13)),
    "5.3": ((0, 1), (6, 7), (1, 1), (1, 2)),
    "5.5": (
        (True, True, True, False, True, False),
        (True, True, True, True, True, True),
        (True, True, False, False, False, False),
        (True, True, True, True, False, False),
    ),
    "5.8": ((1, 3), (2, 3), (2, 1076), (1, 540), (1, 2)),
    "5.10": (7, 6, 4, 3),
    "5.13": ((1, 1, 2, 2), (2, 2, 2, 3), (2, 3, 3, 4), (1, 1, 1, 2), (1, 1, 1, 1)),
}


def pairs(a, b, axis):
    (m, k), n = a.shape, b.shape[1]
    return (a.reshape(m, k, 1) * b.reshape(1, k, n)).sum(axis=axis)


def by_cutting(x, size):
    """Windows copied one by one, which is what somebody writes who thinks in loops."""
    return Tensor.stack(*[x[i : i + size] for i in range(x.shape[0] - size + 1)])


def untransposed(x, size):
    (n,) = x.shape
    repeated = x.reshape(1, n).expand(size + 1, n).reshape((size + 1) * n)
    return repeated[: size * (n + 1)].reshape(size, n + 1)[:, : n - size + 1]


def side_by_side(x, size):
    """Pieces that do not overlap."""
    count = x.shape[0] // size
    return x[: count * size].reshape(count, size)


def padded_sums(x, size):
    half = size // 2
    return x.pad((half, half)).unfold(0, size, 1).sum(axis=1)


def average_of_the_others_than_0(x, size):
    seen = x.pad((size // 2, size // 2)).unfold(0, size, 1)
    return seen.sum(axis=1) / (seen != 0).sum(axis=1)


def stored_average(x, size):
    counts = padded_sums(Tensor.ones(x.shape[0]), size).contiguous()
    return padded_sums(x, size).contiguous() / counts


def last_of_the_largest(a):
    largest = a == a.max(axis=1, keepdim=True)
    return largest.where(Tensor.arange(a.shape[1]), -1).max(axis=1)


def sum_of_positions(a):
    largest = a == a.max(axis=1, keepdim=True)
    return (largest * Tensor.arange(a.shape[1])).sum(axis=1)


def never_negative(a):
    """Right for numbers above 0 only: the others are taken for the maximum of nothing."""
    largest = a == a.relu().max(axis=1, keepdim=True)
    return largest.where(Tensor.arange(a.shape[1]), a.shape[1]).min(axis=1)


def convolved(images, filters, sum_over=(2, 5, 6)):
    out, channels, high, wide = filters.shape
    seen = images.unfold(2, high, 1).unfold(3, wide, 1)
    n, _, rows, columns, _, _ = seen.shape
    seen = seen.reshape(n, 1, channels, rows, columns, high, wide)
    return (seen * filters.reshape(1, out, channels, 1, 1, high, wide)).sum(axis=sum_over)


def mirrored(images, filters):
    """What a mathematician calls a convolution: the filter upside down."""
    return convolved(images, filters.flip((2, 3)))


def twice(images, filters):
    return convolved(images, filters).contiguous().relu() + convolved(images, filters) * 0


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("5.4", lambda a: a.T, "reversed along every axis"),
    ("5.4", lambda a: a.flip((0, 1)), "Rows and columns are swapped"),
    ("5.4", lambda a: a.flip((0, 1)).T.contiguous(), "1 kernel; it should take none"),
    ("5.4", lambda a: Tensor(a.numpy().T[::-1, ::-1].copy()), "copies of the numbers"),
    ("5.6", lambda first, stride, count: count, "counted the floats"),
    ("5.6", lambda first, stride, count: (count - 1) * stride // 16 + 1, "first float is in its"),
    (
        "5.6",
        lambda first, stride, count: (first + (count - 1) * stride) // 16 - first // 16 + 1,
        "skips lines",
    ),
    ("5.6", lambda first, stride, count: count / 16, "a whole number"),
    ("5.7", lambda a, b: a @ b, "what you are asked to build"),
    ("5.7", lambda a, b: a.dot(b), "what you are asked to build"),
    ("5.7", lambda a, b: pairs(a, b, 0), "you summed over i"),
    ("5.7", lambda a, b: pairs(a, b, 2), "you summed over j"),
    ("5.7", lambda a, b: pairs(a, b, 1).T, "transposed"),
    ("5.7", lambda a, b: (pairs(a, b, 1).contiguous() + 1).contiguous() - 1, "3 kernels"),
    ("5.9", lambda x, size: x.unfold(0, size, 1), "WINDOW"),
    ("5.9", by_cutting, "Movement alone"),
    ("5.9", untransposed, "Rows and columns are swapped"),
    ("5.9", side_by_side, "axis 0 has a different size"),
    ("5.11", lambda x, size: padded_sums(x, size) / size, "ends are too small"),
    ("5.11", lambda x, size: x.unfold(0, size, 1).sum(axis=1) / size, "shape"),
    ("5.11", lambda x, size: x.reshape(1, 1, 1, -1).avg_pool2d((1, size)), "uses `avg_pool2d`"),
    ("5.11", padded_sums, "is 3 and should be 1.5"),
    ("5.11", average_of_the_others_than_0, "A 0 in `x` is a number like any other"),
    ("5.11", stored_average, "3 kernels; it should take 1"),
    ("5.12", lambda a: a.argmax(axis=1), "what you are asked to build"),
    ("5.12", last_of_the_largest, "the first of its positions"),
    ("5.12", sum_of_positions, "the first of its positions"),
    ("5.12", never_negative, "is 3 and should be 1"),
    ("5.12", lambda a: a.max(axis=1), "is 5 and should be 1"),
    ("5.14", lambda images, filters: images.conv2d(filters), "what you are asked to build"),
    ("5.14", mirrored, "upside down"),
    ("5.14", lambda i, f: convolved(i, f, (2, 3, 4)), "is 12 and should be 37"),
    ("5.14", twice, "2 kernels; it should take 1"),
]
