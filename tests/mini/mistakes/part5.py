"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("moved_shape", "return tuple(shape[axis] for axis in arg) if op is Ops.PERMUTE else arg",
     "should be (2, 4), and it is ((1, 3), (0, 4))"),
    ("moved_shape", """
        if op is Ops.PERMUTE:
            return tuple(shape[arg.index(axis)] for axis in range(len(shape)))
        return arg
        """, "This is the inverse permutation"),
    ("moved_shape", """
        rules = {
            Ops.SHRINK: lambda: tuple(end for _, end in arg),
            Ops.PERMUTE: lambda: tuple(shape[axis] for axis in arg),
        }
        return rules.get(op, lambda: arg)()
        """, "That is where each piece ends"),
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
    ("broadcast", "return nodes", "The shapes are as they were"),
    ("broadcast", "shapes = [node.shape for node in nodes]", "Is there a `return`?"),
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
    ("conv2d", """
        batch, channels, height, width = x.shape
        filters, _, h, w = weight.shape
        made = Tensor(x).numpy()
        total = np.zeros((batch, filters, height - h + 1, width - w + 1))
        for i in range(h):
            for j in range(w):
                piece = made[:, :, i : i + height - h + 1, j : j + width - w + 1]
                total += np.einsum("bcyx,fc->bfyx", piece, Tensor(weight).numpy()[:, :, i, j])
        return Tensor(total).uop
        """, "was computed at once"),
    ("__matmul__", "return Tensor(Tensor(a).numpy() @ Tensor(b).numpy()).uop",
     "was computed at once"),
    ("expand", "return UOp(Ops.EXPAND, (x,), shape)", "expand should return x itself"),
    ("expand", "return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)",
     "This should be a ValueError"),
    ("expand", """
        if len(shape) != len(x.shape) or any(a not in (1, b) for a, b in zip(x.shape, shape)):
            raise ValueError("these do not fit")
        return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)
        """, "The message should name both shapes"),
    ("expand", """
        for a, b in zip(x.shape, shape):
            if a not in (1, b):
                raise ValueError(f"{x.shape} cannot be expanded to {shape}")
        return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)
        """, "as many axes afterwards as before"),
    ("reduce", "return UOp(Ops.REDUCE_AXIS, (x,), (op, axes))", "The reduced axes are still there"),
    ("reduce", """
        axes = tuple(axis % len(x.shape) for axis in axes)
        result = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
        kept = [size for axis, size in enumerate(x.shape) if axis not in axes]
        return result if keepdim else result.reshape(*kept)
        """, "No axes at all means every axis"),
    ("reduce", """
        axes = axes or tuple(range(len(x.shape)))
        result = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
        kept = [size for axis, size in enumerate(x.shape) if axis not in axes]
        return result if keepdim else result.reshape(*kept)
        """, "A negative axis counts from the end"),
    ("reduce", """
        rank = len(x.shape)
        axes = tuple(axis % rank for axis in axes) or tuple(range(rank))
        result = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
        return result if keepdim else result.reshape(*(n for n in result.shape if n != 1))
        """, "it had size 1 before, and keeps it"),
    ("reduce", """
        rank = len(x.shape)
        axes = tuple(axis % rank for axis in axes) or tuple(range(rank))
        result = UOp(Ops.REDUCE_AXIS, (x,), (Ops.ADD, axes))
        kept = [size for axis, size in enumerate(x.shape) if axis not in axes]
        return result if keepdim else result.reshape(*kept)
        """, "It always does the same op"),
    ("mean", "return x.sum(*axes) * (1 / math.prod(x.shape))", "the number of all elements"),
    ("mean", "return x.sum(*axes)", "This is the sum"),
    ("log_softmax", "return x - x.exp().sum(-1, keepdim=True).log()", "An exponential overflows"),
    ("log_softmax", """
        x = x - x.max(-1, keepdim=True)
        return x.exp() / x.exp().sum(-1, keepdim=True)
        """, "This is softmax. You need its logarithm"),
    ("log_softmax", """
        x = x - x.max(-1, keepdim=True)
        return (x.exp() / x.exp().sum(-1, keepdim=True)).log()
        """, "a logarithm is taken of 0"),
    ("log_softmax", "return x - x.exp().sum().log()", "Each row is a softmax of its own"),
]  # fmt: skip
