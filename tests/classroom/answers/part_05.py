"""Part 5: what somebody might answer, and what they are told."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from tinyframe import Tensor

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "5.2": ((0, 1), (6, 7), (1, 1), (1, 2)),
    "5.4": (
        (True, True, True, False, True, False),
        (True, True, True, True, True, True),
        (True, True, False, False, False, False),
        (True, True, True, True, False, False),
    ),
    "5.8": ((1, 3), (2, 3), (2, 1076), (1, 540), (1, 2)),
    "5.10": (7, 6, 4, 3),
}


def views(*others):
    """The right ones, but for those that are given: {number: view}."""

    def answer(grid):
        right = [grid.flip(1).T, grid[1::2, ::2], grid[:, 2].expand(3, 4)]
        for number, view in others:
            right[number - 1] = view(grid)
        return tuple(right)

    return answer


def cache(cells, room, renews=True, first=0):
    kept, count = [], 0
    for cell in cells:
        line = cell // 16
        if line not in kept:
            count += 1
            kept.append(line)
        elif renews:
            kept.append(kept.pop(kept.index(line)))
        if len(kept) > room:
            kept.pop(first)
    return count


def cache_of_ages(cells, room):
    """With the time of the last use of each line, as somebody may write it who likes dicts."""
    used, count = {}, 0
    for now, cell in enumerate(cells):
        count += cell // 16 not in used
        used[cell // 16] = now
        if len(used) > room:
            del used[min(used, key=used.get)]
    return np.int64(count)


def trips(a, b):
    return a[:, :, None] + b


def sheared(x):
    n, m = x.shape
    padded = x.pad(((0, 0), (0, n))).reshape(n * (n + m))
    return padded[: n * (n + m - 1)].reshape(n, n + m - 1)


def sheared_to_the_left(x):
    return sheared(x.flip(1)).flip(1)


def sheared_by_choosing(x):
    """Right values, but a kernel computes them."""
    n, m = x.shape
    place = Tensor.arange(n + m - 1) - Tensor.arange(n)[:, None]
    chosen = (place[:, :, None] == Tensor.arange(m)).where(x[:, None], 0)
    return chosen.sum(axis=2)


def sheared_through_rows(x):
    """The same movement with everything padded first, and cut in one go."""
    n, m = x.shape
    wide = x.pad(((0, 1), (0, n))).flatten()
    return wide[: (n + 1) * (n + m - 1)].reshape(n + 1, n + m - 1)[:n]


def padded_sums(x, size):
    half = size // 2
    return x.pad((half, half)).unfold(0, size, 1).sum(axis=1)


def average_of_the_others_than_0(x, size):
    seen = x.pad((size // 2, size // 2)).unfold(0, size, 1)
    return seen.sum(axis=1) / (seen != 0).sum(axis=1)


def stored_average(x, size):
    counts = padded_sums(Tensor.ones(x.shape[0]), size).contiguous()
    return padded_sums(x, size).contiguous() / counts


def average_by_counting(x, size):
    """How many cells exist, from the place alone."""
    i, half, n = Tensor.arange(len(x)), size // 2, len(x)
    first = (i - half > 0).where(i - half, 0)
    last = (i + half < n - 1).where(i + half, n - 1)
    return padded_sums(x, size) / (last - first + 1)


def average_by_a_band(x, size):
    """As a matrix that picks, from part 3b."""
    i = Tensor.arange(len(x))
    near = abs(i[:, None] - i) <= size // 2
    return near.where(x, 0).sum(axis=1) / near.sum(axis=1)


def pooled(x, size):
    rows = x.reshape(1, 1, 1, -1)
    return rows.avg_pool2d((1, size), stride=1, padding=(0, size // 2), count_include_pad=False)


pool = Tensor.avg_pool2d


def differences(scene, piece):
    return scene.unfold(0, piece.shape[0], 1).unfold(1, piece.shape[1], 1) - piece


def mismatch_on_its_side(scene, piece):
    """Columns first."""
    high, wide = piece.shape
    seen = scene.unfold(1, wide, 1).unfold(0, high, 1)  # rows, columns, wide, high
    return ((piece.T - seen) * (piece.T - seen)).sum(axis=(-1, -2))


def mismatch_multiplied_out(scene, piece):
    seen = scene.unfold(0, piece.shape[0], 1).unfold(1, piece.shape[1], 1)
    return (seen * seen - 2 * seen * piece + piece * piece).sum((2, 3))


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("5.1", views((1, lambda g: g.T)), "one step down is 1 cell in memory; it should be -1"),
    ("5.1", views((1, lambda g: g.T.flip(1))), "one step down is 1 cell"),
    ("5.1", views((2, lambda g: g[1::2, ::3])), "shape is different"),
    ("5.1", views((2, lambda g: g[:3:2, 1::2])), "begins in cell 1"),
    ("5.1", views((2, lambda g: g[:2, :3])), "one step down is 6 cells in memory"),
    ("5.1", views((3, lambda g: g[2, :4].expand(3, 4))), "one step right is 1 cell in memory"),
    ("5.1", views((3, lambda g: g[:, 2].expand(3, 4) + 0)), "1 kernel; it should take none"),
    (
        "5.1",
        views((1, lambda g: Tensor(g.numpy()[:, ::-1].T.copy()).realize())),
        "copies of the numbers",
    ),
    ("5.1", lambda g: g.flip(1).T, "a tuple of three views"),
    ("5.3", lambda a: a.T, "reversed along every axis"),
    ("5.3", lambda a: a.flip((0, 1)), "Rows and columns are swapped"),
    ("5.3", lambda a: a.flip((0, 1)).T.contiguous(), "1 kernel; it should take none"),
    ("5.3", lambda a: Tensor(a.numpy().T[::-1, ::-1].copy()), "copies of the numbers"),
    ("5.5", lambda first, stride, count: count, "counted the floats"),
    ("5.5", lambda first, stride, count: (count - 1) * stride // 16 + 1, "first float is in its"),
    (
        "5.5",
        lambda first, stride, count: (first + (count - 1) * stride) // 16 - first // 16 + 1,
        "skips lines",
    ),
    ("5.5", lambda first, stride, count: count / 16, "a whole number"),
    ("5.6", lambda cells, room: len(cells), "for every read"),
    ("5.6", lambda cells, room: len({cell // 16 for cell in cells}), "keeps more than"),
    ("5.6", lambda cells, room: len(set(cells)), "a whole line"),
    ("5.6", lambda cells, room: cache(cells, room, renews=False), "the line that came in first"),
    ("5.6", lambda cells, room: cache(cells, room, first=-1), "too few fetches"),
    ("5.6", lambda cells, room: cache(cells, room + 1), "keeps more than"),
    ("5.7", lambda a, b: a @ b, "the matrix product"),
    ("5.7", lambda a, b: (a[:, :, None] * b).min(axis=1), "A trip costs their sum"),
    ("5.7", lambda a, b: trips(a, b).max(axis=1), "most expensive"),
    ("5.7", lambda a, b: trips(a, b).sum(axis=1), "Only the cheapest of them counts"),
    ("5.7", lambda a, b: trips(a, b).min(axis=0), "You reduced over i"),
    ("5.7", lambda a, b: trips(a, b).min(axis=2), "You reduced over j"),
    ("5.7", lambda a, b: a.min(1, keepdim=True) + b.min(0), "in the same airport"),
    ("5.7", lambda a, b: trips(a, b).contiguous().min(axis=1), "2 kernels; it should take 1"),
    ("5.9", sheared_to_the_left, "rows move to the left"),
    ("5.9", lambda x: sheared(x.T), "columns move down"),
    ("5.9", lambda x: x.pad(((0, 0), (0, len(x) - 1))), "not in the right places"),
    ("5.9", sheared_by_choosing, "Movement alone"),
    ("5.9", lambda x: sheared(Tensor(x.numpy() + 0).realize()), "copies of the numbers"),
    ("5.11", lambda x, size: padded_sums(x, size) / size, "ends are too small"),
    ("5.11", lambda x, size: x.unfold(0, size, 1).sum(axis=1) / size, "shape"),
    ("5.11", lambda x, size: x.reshape(1, 1, 1, -1).avg_pool2d((1, size)), "uses `avg_pool2d`"),
    ("5.11", lambda x, size: pooled(x, size).reshape(-1), "uses `avg_pool2d`"),
    ("5.11", lambda x, size: pool(x[None, None, None], (1, size), 1).flatten(), "`avg_pool2d`"),
    ("5.11", lambda x, size: methodcaller("avg_pool2d", size)(x[None, None]), "`avg_pool2d`"),
    ("5.11", padded_sums, "These are sums"),
    ("5.11", average_of_the_others_than_0, "A 0 in `x` is a number like any other"),
    ("5.11", stored_average, "3 kernels; it should take 1"),
    ("5.12", lambda s, p: (differences(s, p) + p).mul(p).sum((2, 3)), "That's a convolution"),
    ("5.12", lambda s, p: s[None, None].conv2d(p[None, None])[0, 0], "That's a convolution"),
    ("5.12", lambda s, p: differences(s, p).sum((2, 3)), "cancel"),
    ("5.12", lambda s, p: differences(s, p).abs().sum((2, 3)), "Add up their squares"),
    ("5.12", lambda s, p: differences(s, p).sum((2, 3)) ** 2, "Square each of them"),
    ("5.12", lambda s, p: (differences(s, p) ** 2).mean((2, 3)), "mean of the squares"),
    ("5.12", lambda s, p: (differences(s, p.flip((0, 1))) ** 2).sum((2, 3)), "upside down"),
    (
        "5.12",
        lambda s, p: (differences(s, p) ** 2).contiguous().sum((2, 3)),
        "2 kernels; it should take 1",
    ),
]

# unusual, and right
RIGHT = [
    ("5.1", lambda grid: list(views()(grid))),
    ("5.1", views((1, lambda g: g.T[::-1]))),
    ("5.1", views((1, lambda g: g.permute(1, 0).flip(0)), (2, lambda g: g[1:, :5][::2, ::2]))),
    ("5.1", views((3, lambda g: g.T[2:3].expand(3, 4)))),
    ("5.3", lambda a: a[::-1, ::-1].T),
    ("5.3", lambda a: a.T.flip(0).flip(1)),
    ("5.3", lambda a: a.flip(0).permute(1, 0).flip(0)),
    ("5.5", lambda f, s, n: len({(f + k * s) // 16 for k in range(n)}) * 1.0),
    ("5.5", lambda f, s, n: np.unique((f + s * np.arange(n)) // 16).size),
    ("5.5", lambda f, s, n: np.int64(len(np.unique((f + s * np.arange(n)) >> 4)))),
    ("5.6", cache_of_ages),
    ("5.6", lambda cells, room: np.float32(cache(cells, room))),
    ("5.6", lambda cells, room: Tensor(cache(cells, room))),
    ("5.7", lambda a, b: (a.unsqueeze(1) + b.T).min(-1)),
    ("5.7", lambda a, b: -(-trips(a, b)).max(axis=1)),
    ("5.7", lambda a, b: (b.T[:, None] + a).min(axis=2).T),
    ("5.9", sheared_through_rows),
    ("5.9", lambda x: sheared(x).flip(0).flip(0)),
    ("5.11", average_by_counting),
    ("5.11", average_by_a_band),
    ("5.11", lambda x, size: padded_sums(x, size) / padded_sums(x * 0 + 1, size)),
    ("5.12", mismatch_on_its_side),
    ("5.12", mismatch_multiplied_out),
    ("5.12", lambda s, p: differences(s, p).square().flatten(2).sum(-1)),
]
