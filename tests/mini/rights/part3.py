"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("flat", """
        import math
        return sum(i * math.prod(shape[n + 1 :]) for n, i in enumerate(index))
        """),
    ("flat", "return flat(index[:-1], shape[:-1]) * shape[-1] + index[-1] if index else 0"),
    ("flat", """
        from functools import reduce
        return reduce(lambda place, step: place * step[1] + step[0], zip(index, shape), 0)
        """),
    ("flat", """
        step, place = 1, 0
        for axis in range(len(shape) - 1, -1, -1):
            place, step = place + step * index[axis], step * shape[axis]
        return place
        """),
    ("flat", """
        import numpy as np
        steps = [np.prod(shape[axis + 1 :], dtype=int) for axis in range(len(shape))]
        return np.dot(index, steps) if shape else 0
        """),
    ("unflat", """
        if not shape:
            return ()
        rest, last = divmod(place, shape[-1])
        return (*unflat(rest, shape[:-1]), last)
        """),
    ("unflat", """
        return tuple(place // prod(shape[n + 1 :]) % size for n, size in enumerate(shape))
        """),
    ("unflat", """
        index = ()
        for size in shape[::-1]:
            place, last = place // size, place - place // size * size
            index = (last,) + index
        return index
        """),
    ("Array.of", """
        kept = list(values)

        def at(index):
            return kept[flat(index, shape)]

        return Array(shape, at)
        """),
    ("Array.of", """
        import numpy as np
        table = np.array(values)
        return Array(shape, lambda index: table[flat(index, shape)])
        """),
    ("Array.moved", """
        moved = Array(shape, None)
        moved.at = lambda index: self.at(source_index(index))
        return moved
        """),
    ("Array.map", """
        everybody = [self, *others]
        return Array(self.shape, lambda i: function(*map(lambda array: array.at(i), everybody)))
        """),
    ("Array.sum", """
        shape = list(self.shape)
        size = shape.pop(axis)

        def at(index):
            total = 0
            for k in range(size):
                whole = list(index)
                whole.insert(axis, k)
                total = total + self.at(tuple(whole))
            return total

        return Array(tuple(shape), at)
        """),
    ("Array.tolist", """
        import itertools
        return [self.at(index) for index in itertools.product(*map(range, self.shape))]
        """),
]  # fmt: skip
