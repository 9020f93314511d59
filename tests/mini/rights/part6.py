"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("mul_gradient", "return [y * grad, x * grad]"),
    ("max_gradient", """
        first = (y < x).where(1, (x < y).where(0, 0.5))
        return grad * first, grad * (1 - first)
        """),
    ("recip_gradient", "return (grad / (x * x) * -1,)"),
    ("sqrt_gradient", "return (grad * 0.5 / x.sqrt(),)"),
    ("exp2_gradient", "return (grad * x.exp2() * 0.6931471805599453,)"),
    ("log2_gradient", "return (grad * (math.log2(math.e) / x),)"),
    ("where_gradient", "return condition * 0, grad * condition, grad * (1 - condition)"),
    ("reshape_gradient", "return [grad.reshape(*x.shape)]"),
    ("permute_gradient", """
        order = sorted(range(len(node.arg)), key=node.arg.__getitem__)
        return (grad.permute(*order),)
        """),
    ("permute_gradient", """
        import numpy as np
        return (grad.permute(*map(int, np.argsort(node.arg))),)
        """),
    ("expand_gradient", """
        for axis, size in enumerate(x.shape):
            if size == 1:
                grad = grad.sum(axis, keepdim=True)
        return (grad,)
        """),
    ("shrink_gradient", """
        return (grad.pad(*((a, n - b) for n, (a, b) in zip(x.shape, node.arg))),)
        """),
    ("pad_gradient", """
        return (grad.shrink(*((a, n - b) for n, (a, b) in zip(grad.shape, node.arg))),)
        """),
    ("reduce_gradient", """
        wide = grad.expand(*x.shape)
        if node.arg[0] is Ops.ADD:
            return (wide,)
        largest = 1 - (x < node)
        return (wide * largest / largest.sum(*node.arg[1], keepdim=True),)
        """),
    ("gradient", """
        # everything is gone through, wanted or not, and a dict of lists is added up at the end
        arrived = {loss: [loss.const(1.0)]}
        for node in reversed(loss.toposort()):
            if node not in arrived:
                continue
            total, *more = arrived[node]
            for part in more:
                total = total + part
            arrived[node] = [total]
            rule = GRADIENT.get(node.op)
            if rule is not None:
                for source, part in zip(node.src, rule(total, node, *node.src)):
                    if part is not None:
                        arrived.setdefault(source, []).append(part)
        return [arrived.get(node, [loss.const(0.0)])[0] for node in wanted]
        """),
    ("gradient", """
        # users are counted first, and a node is ready when the last of them has been heard
        order = loss.toposort()
        waits = dict.fromkeys(order, 0)
        for node in order:
            for source in node.src:
                waits[source] += 1
        grads, ready = {loss: loss.const(1.0)}, [loss]
        while ready:
            node = ready.pop()
            parts = [None] * len(node.src)
            if node in grads and node.op in GRADIENT:
                parts = GRADIENT[node.op](grads[node], node, *node.src)
            for source, part in zip(node.src, parts):
                if part is not None:
                    grads[source] = part if source not in grads else part + grads[source]
                waits[source] -= 1
                if waits[source] == 0:
                    ready.append(source)
        return (grads.get(node, loss.const(0.0)) for node in wanted)
        """),
    ("SGD", """
        def __init__(self, weights, lr=0.1):
            self.weights, self.lr = list(weights), Tensor([lr])

        def step(self, loss):
            new = [w - g * self.lr for w, g in zip(self.weights, loss.gradient(*self.weights))]
            loss.realize(*new)
            for w, changed in zip(self.weights, new):
                w.uop = changed.reshape(*w.shape).realize().uop
            return loss
        """),
    ("Adam", """
        # a dict for each parameter, and the step counted in a Tensor
        def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
            self.lr, self.b1, self.b2, self.eps = lr, b1, b2, eps
            self.steps = Tensor(0.0)
            zero = lambda p: Tensor(np.zeros(p.shape))
            self.rows = [{"w": p, "mean": zero(p), "square": zero(p)} for p in params]

        def step(self, loss):
            grads = loss.gradient(*(row["w"] for row in self.rows))
            self.steps.uop = (self.steps + 1).uop
            down1 = 1 - (self.steps * math.log(self.b1)).exp()
            down2 = 1 - (self.steps * math.log(self.b2)).exp()
            for row, g in zip(self.rows, grads):
                row["mean"].uop = (row["mean"] + (g - row["mean"]) * (1 - self.b1)).uop
                row["square"].uop = (row["square"] * self.b2 + g * g * (1 - self.b2)).uop
                rate = self.lr / ((row["square"] / down2).sqrt() + self.eps)
                row["w"].uop = (row["w"] - row["mean"] / down1 * rate).uop
            return loss.realize(self.steps, *(t for row in self.rows for t in row.values()))
        """),
    ("Mine", """
        def __abs__(x):
            return x.maximum(-x)

        def minimum(x, y):
            return -(-x).maximum(-x.const(y))

        def clip(x, low, high):
            return x.maximum(low).minimum(high)

        def sigmoid(x):
            return 1 / ((-x.maximum(-40)).exp() + 1)

        def tanh(x):
            return (x * 2).sigmoid() * 2 - 1

        def silu(x):
            return x * x.sigmoid()

        def softplus(x):
            return x.relu() + ((-abs(x)).exp() + 1).log()

        def softmax(x):
            return x.log_softmax().exp()

        def sin(x):
            return x.alu("SIN")

        def cos(x):
            return x.alu("COS")

        add_op("SIN", np.sin, lambda grad, node, x: (grad * x.cos(),))
        add_op("COS", np.cos, lambda grad, node, x: (-grad * x.sin(),))

        def cumsum(x):
            n = x.shape[-1]
            ones = Tensor(np.triu(np.ones((n, n)))).uop
            return (x.reshape(-1, n) @ ones).reshape(*x.shape)

        def var(x):
            off = x - x.mean()
            return (off * off).mean()

        def cat(x, y):
            rest = [(0, 0)] * (len(x.shape) - 1)
            return x.pad((0, y.shape[0]), *rest) + y.pad((x.shape[0], 0), *rest)

        def max_pool(x, n):
            *front, rows, columns = x.shape
            return x.reshape(*front, rows // n, n, columns // n, n).max(-3, -1)

        def __pow__(x, n):
            if n == 0:
                return x * 0 + 1
            if n == int(n) and n > 0:
                half = x ** (n // 2) if n > 1 else None
                return (half * half if half else 1) * (x if n % 2 else 1) if n > 1 else x
            return (x ** -n).recip() if n < 0 else (x.log() * n).exp()

        def __getitem__(x, key):
            for axis, k in reversed(list(enumerate(key if isinstance(key, tuple) else [key]))):
                span = range(x.shape[axis])[k]
                is_one = isinstance(span, int)
                bound = (span, span + 1) if is_one else (span.start, span.stop)
                bounds = [(0, n) for n in x.shape]
                bounds[axis] = bound
                x = x.shrink(*bounds)
                if is_one:
                    x = x.reshape(*x.shape[:axis], *x.shape[axis + 1 :])
            return x
        """),
    ("Mine", """
        sigmoid = lambda x: ((x.maximum(-60) * -1).exp() + 1).recip()
        minimum = lambda x, y: (x < y).where(x, y)
        var = lambda x: ((x - x.mean()) * (x - x.mean())).sum() / math.prod(x.shape)
        """),
]  # fmt: skip
