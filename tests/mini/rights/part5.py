"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("moved_shape", """
        rules = {
            Ops.RESHAPE: lambda: arg,
            Ops.EXPAND: lambda: arg,
            Ops.PERMUTE: lambda: [shape[axis] for axis in arg],
            Ops.SHRINK: lambda: [end - start for start, end in arg],
            Ops.PAD: lambda: [size + sum(width) for size, width in zip(shape, arg)],
        }
        return rules.get(op, lambda: shape)()
        """),
    ("moved_shape", """
        empty = np.zeros(shape)
        return {
            Ops.RESHAPE: lambda: empty.reshape(arg),
            Ops.EXPAND: lambda: np.broadcast_to(empty, arg),
            Ops.PERMUTE: lambda: empty.transpose(arg),
            Ops.SHRINK: lambda: empty[tuple(slice(*pair) for pair in arg)],
            Ops.PAD: lambda: np.pad(empty, arg),
        }.get(op, lambda: empty)().shape
        """),
    ("reshape_index", """
        place = 0
        for i, size in zip(index, new):
            place = place * size + i
        found = []
        for size in shape[::-1]:
            found.insert(0, place % size)
            place = place // size
        return tuple(found)
        """),
    ("permute_index", """
        found = [None] * len(order)
        for k, axis in enumerate(order):
            found[axis] = index[k]
        return tuple(found)
        """),
    ("permute_index", "return tuple(i for _, i in sorted(zip(order, index), key=lambda p: p[0]))"),
    ("expand_index", "return tuple(i * (size > 1) for i, size in zip(index, shape))"),
    ("expand_index", "return tuple(i % size for i, size in zip(index, shape))"),
    ("shrink_index", "return tuple(map(lambda i, bound: bound[0] + i, index, bounds))"),
    ("flip_index", """
        found = list(index)
        for axis in axes:
            found[axis] = -index[axis] + (shape[axis] - 1)
        return tuple(found)
        """),
    ("inside", """
        condition = 1
        for i, size, (before, after) in zip(index, shape, widths):
            condition = condition * (i > before - 1) * (before + size > i)
        return condition
        """),
    ("pad_index", """
        condition = inside(index, shape, widths)
        return tuple(where(condition, i - before, size - 1)
                     for i, size, (before, _) in zip(index, shape, widths))
        """),
    ("pad_index", """
        return tuple((i - before) * inside(index, shape, widths)
                     for i, (before, _) in zip(index, widths))
        """),
    ("broadcast", """
        shape = np.broadcast_shapes(*(node.shape for node in nodes))
        return [node.reshape(*[1] * (len(shape) - len(node.shape)), *node.shape).expand(*shape)
                for node in nodes]
        """),
    ("broadcast", """
        rank = max(len(node.shape) for node in nodes)
        sizes = [[1] * (rank - len(node.shape)) + list(node.shape) for node in nodes]
        shape = [max(column) for column in zip(*sizes)]
        return (node.reshape(*size).expand(*shape) for node, size in zip(nodes, sizes))
        """),
    ("reduce", """
        rank = len(x.shape)
        axes = {axis + rank if axis < 0 else axis for axis in axes or range(rank)}
        x = UOp(Ops.REDUCE_AXIS, (x,), (op, tuple(axes)))
        return x if keepdim else x.reshape(*[n for k, n in enumerate(x.shape) if k not in axes])
        """),
    ("reduce", """
        # one axis at a time
        rank = len(x.shape)
        todo = sorted(axis % rank for axis in axes) or range(rank)
        for axis in todo:
            x = UOp(Ops.REDUCE_AXIS, (x,), (op, (axis,)))
        return x if keepdim else x.reshape(*(n for k, n in enumerate(x.shape) if k not in todo))
        """),
    ("mean", """
        axes = axes or range(len(x.shape))
        return x.sum(*axes) / math.prod(x.shape[axis] for axis in axes)
        """),
    ("__matmul__", """
        (n, k), (_, m) = a.shape, b.shape
        return (a.reshape(n, k, 1) * b.reshape(1, k, m)).sum(1)
        """),
    ("__matmul__", """
        (n, k), (_, m) = a.shape, b.shape
        total = 0
        for j in range(k):
            total = a.shrink((0, n), (j, j + 1)) * b.shrink((j, j + 1), (0, m)) + total
        return total
        """),
    ("windows", """
        *front, n = x.shape
        whole, count = [(0, size) for size in front], n - size + 1
        rows = []
        for j in range(size):
            row = x.shrink(*whole, (j, j + count)).reshape(*front, 1, count)
            rows.append(row.pad(*[(0, 0)] * len(front), (j, size - 1 - j), (0, 0)))
        total = rows[0]
        for row in rows[1:]:
            total = total + row
        return total
        """),
    ("windows", """
        # a matrix of 0s and 1s picks every element
        *front, n = x.shape
        count = n - size + 1
        pick = np.zeros((n, size * count))
        for j in range(size):
            for o in range(count):
                pick[j + o, j * count + o] = 1
        flat_x = x.reshape(math.prod(front), n)
        return (flat_x @ Tensor(pick).uop).reshape(*front, size, count)
        """),
    ("conv2d", """
        # shift, multiply, add: one element of the filters after the other
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        rows, columns = height - h + 1, width - w + 1
        total = 0
        for i in range(h):
            for j in range(w):
                piece = x.shrink((0, batch), (0, channels), (i, i + rows), (j, j + columns))
                one = weight.shrink((0, filters), (0, channels), (i, i + 1), (j, j + 1))
                product = piece.reshape(batch, 1, channels, rows, columns) * one.reshape(
                    1, filters, channels, 1, 1)
                total = product.sum(2) + total
        return total
        """),
    ("conv2d", """
        # one matrix product: every window is a row
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        rows, columns = height - h + 1, width - w + 1
        x = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
        x = x.permute(0, 5, 3, 1, 4, 2).reshape(batch * rows * columns, channels * h * w)
        got = x @ weight.reshape(filters, channels * h * w).permute(1, 0)
        return got.reshape(batch, rows, columns, filters).permute(0, 3, 1, 2)
        """),
    ("conv2d", """
        # channel by channel, and the filter flipped twice
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        weight = weight.flip(2, 3).flip(2, 3)
        total = Tensor(np.zeros((1, 1, 1, 1))).uop
        for c in range(channels):
            image = x.shrink((0, batch), (c, c + 1), (0, height), (0, width))
            win = image.permute(0, 1, 3, 2).windows(h).permute(0, 1, 3, 4, 2).windows(w)
            one = weight.shrink((0, filters), (c, c + 1), (0, h), (0, w))
            # batch, 1, i, row, j, column
            total = total + (win * one.reshape(1, filters, h, 1, w, 1)).sum(2, 4)
        return total
        """),
    ("log_softmax", """
        x = x - x.max(len(x.shape) - 1, keepdim=True)
        total = x.exp().sum(-1, keepdim=True)
        return x - total.alu(Ops.LOG2) * math.log(2)
        """),
    ("expand", """
        fits = len(shape) == len(x.shape)
        fits = fits and all(a == b or a == 1 for a, b in zip(x.shape, shape))
        if fits:
            return UOp(Ops.EXPAND, (x,), tuple(shape)) if x.shape != tuple(shape) else x
        raise ValueError("no way from " + str(x.shape) + " to " + str(shape))
        """),
]  # fmt: skip
