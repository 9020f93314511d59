"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("reshape_index", "return unflat(flat(index, shape), new)",
     "You used the old shape for `flat`"),
    ("reshape_index", "return index", "should be (1, 1)"),
    ("permute_index", "return tuple(index[axis] for axis in order)",
     "This is the inverse permutation"),
    ("permute_index", "return index", "Its parts have to trade places"),
    ("expand_index", "return index", "Row 2 does not exist in a source with one row"),
    ("expand_index", "return tuple(0 for _ in index)", "Only axes of size 1 are read at 0"),
    ("expand_index", "return tuple(0 if n == 1 else i for i, n in zip(index, new))",
     "Row 2 does not exist"),
    ("shrink_index", "return tuple(i - start for i, (start, _) in zip(index, bounds))",
     "You subtracted start"),
    ("shrink_index", "return tuple(i + end for i, (_, end) in zip(index, bounds))",
     "You added end"),
    ("flip_index", """
        return tuple(n - i if axis in axes else i
                     for axis, (i, n) in enumerate(zip(index, shape)))
        """, "One too far"),
    ("flip_index", "return tuple(n - 1 - i for i, n in zip(index, shape))",
     "Only the axes in `axes` are flipped"),
    ("inside", "return True", "the padding is not masked"),
    ("inside", """
        condition = True
        for i, size, (before, _) in zip(index, shape, widths):
            condition = condition * (before - 1 < i)
        return condition
        """, "You only checked the beginning"),
    ("inside", """
        condition = True
        for i, size, (before, _) in zip(index, shape, widths):
            condition = condition * (before < i) * (i < before + size)
        return condition
        """, "Element 0 of the source is missing"),
    ("inside", """
        for i, size, (before, _) in zip(index, shape, widths):
            if not before - 1 < i < before + size:
                return False
        return True
        """, 'Write `*` for "and"'),
    ("pad_index", "return tuple(i - before for i, (before, _) in zip(index, widths))",
     "The source has no element -1"),
    ("pad_index", "return tuple(i + before for i, (before, _) in zip(index, widths))",
     "You added `before`"),
    ("pad_index", """
        return tuple(max(i - before, 0) for i, (before, _) in zip(index, widths))
        """, "The source has no element 3"),
    ("pad_index", """
        return tuple(min(max(i - before, 0), n - 1)
                     for i, n, (before, _) in zip(index, shape, widths))
        """, "Python's `if`, `and`, `or`, `min` and `max` need a single number"),
    ("broadcast", """
        rank = max(len(node.shape) for node in nodes)
        return tuple(node if node.op is Ops.CONST else
                     node.reshape(*[1] * (rank - len(node.shape)), *node.shape) for node in nodes)
        """, "What is missing is expand"),
    ("broadcast", "return list(nodes)", "broadcast should return a tuple"),
    ("broadcast", """
        rank = max(len(node.shape) for node in nodes)
        nodes = [node.reshape(*[1] * (rank - len(node.shape)), *node.shape) for node in nodes]
        shape = tuple(map(max, zip(*(node.shape for node in nodes))))
        return tuple(node.expand(*shape) for node in nodes)
        """, "The constant was reshaped or expanded"),
    ("broadcast", """
        rank = max(len(node.shape) for node in nodes)
        shaped = [node if node.op is Ops.CONST else
                  node.reshape(*node.shape, *[1] * (rank - len(node.shape))) for node in nodes]
        shapes = [node.shape for node in shaped if node.op is not Ops.CONST]
        shape = tuple(map(max, zip(*shapes)))
        return tuple(n if n.op is Ops.CONST else n.expand(*shape) for n in shaped)
        """, "ValueError: (3, 1) cannot be expanded"),
    ("__matmul__", """
        (n, k), (_, m) = a.shape, b.shape
        return (a.reshape(n, 1, k) * b.reshape(1, m, k)).sum(2)
        """, "b was only reshaped"),
    ("__matmul__", """
        (n, k), (_, m) = a.shape, b.shape
        return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(1)
        """, "The shape should be (2, 4), and it is (2, 3)"),
    ("windows", """
        *front, n = x.shape
        rows, count = math.prod(front), n - size + 1
        x = x.reshape(rows, 1, n).expand(rows, size, n)
        return x.shrink((0, rows), (0, size), (0, count)).reshape(*front, size, count)
        """, "The second row hasn't moved"),
    ("windows", """
        *front, n = x.shape
        rows, count = math.prod(front), n - size + 1
        x = x.reshape(rows, 1, n).expand(rows, size + 1, n).reshape(rows, (size + 1) * n)
        x = x.shrink((0, rows), (0, size * (n + 1))).reshape(rows, size, n + 1)
        return x.reshape(*front, size, n + 1)
        """, "only the first n - size + 1 columns are windows"),
    ("windows", """
        *front, n = x.shape
        rows, count = math.prod(front), n - size + 1
        x = x.reshape(rows, 1, n).expand(rows, size + 1, n).reshape(rows, (size + 1) * n)
        x = x.shrink((0, rows), (0, size * (n + 1))).reshape(rows, size, n + 1)
        x = x.shrink((0, rows), (0, size), (0, count))
        return x.permute(0, 2, 1).reshape(*front, count, size)
        """, "These are the windows as rows"),
    ("conv2d", """
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        rows, columns = height - h + 1, width - w + 1
        x = x.windows(w).permute(0, 1, 3, 4, 2).windows(h).flip(2, 4)
        x = x.permute(0, 1, 4, 2, 5, 3).reshape(batch, 1, channels, h, w, rows, columns)
        return (x * weight.reshape(1, filters, channels, h, w, 1, 1)).sum(2, 3, 4)
        """, "The filter is upside down"),
    ("conv2d", """
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        rows, columns = height - h + 1, width - w + 1
        x = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
        x = x.permute(0, 1, 4, 2, 3, 5).reshape(batch, 1, channels, h, w, columns, rows)
        return (x * weight.reshape(1, filters, channels, h, w, 1, 1)).sum(2, 3, 4)
        """, "Rows and columns have changed places"),
]  # fmt: skip
