"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("mul_gradient", "return grad * x, grad * y", "These two are swapped"),
    ("mul_gradient", "return y, x", "`grad` is missing"),
    ("max_gradient", "return grad * (y < x), grad * (x < y)", "nobody gets anything"),
    ("max_gradient", "return grad * (y < x), grad * (1 - (y < x))", "y gets everything"),
    ("max_gradient", "return grad * (1 - (x < y)), grad * (1 - (y < x))",
     "which is twice what came in"),
    ("recip_gradient", "return (grad * node * node,)", "The sign is wrong"),
    ("recip_gradient", "return -grad * node * node", "A row returns a tuple"),
    ("sqrt_gradient", "return (grad / (x * 2),)", "Divide by twice the root"),
    ("sqrt_gradient", "return (grad / node,)", "The factor of a half is missing"),
    ("sqrt_gradient", "return (grad * node / 2,)", "The root is below the line"),
    ("exp2_gradient", "return (grad * node,)", "The logarithm of 2 is missing"),
    ("exp2_gradient", "return (grad * node * 0.6931,)", "0.6931 is ln(2) with too few digits"),
    ("exp2_gradient", "return (grad * node * 0.693,)", "0.693 is ln(2) with too few digits"),
    ("exp2_gradient", "return (grad * node * 0.69312,)", "Nearly, but not as close as 32 bits"),
    ("log2_gradient", "return (grad / x,)", "the derivative of the natural logarithm"),
    ("log2_gradient", "return (grad * math.log(2) / x,)", "The factor is upside down"),
    ("log2_gradient", "return (grad * 1.4427 / x,)", "1.4427 has too few digits"),
    ("flip_gradient", "return (grad,)", "Nothing is flipped back"),
    ("flip_gradient", "return (grad.flip(*range(len(x.shape))),)", "Element (0, 0) should be 1"),
    ("max_gradient", """
        larger = (x - y) / ((x - y) * (x - y) + 1e-30).sqrt()
        sign = larger.maximum(0)
        return grad * sign, grad * (1 - sign)
        """, "Where they are equal, y gets everything"),
    ("max_gradient", """
        tie = x.eq(y) * 0.5
        return grad * ((y < x) + tie), grad - grad * ((y < x) + tie).sum() / 3
        """, "should be 10"),
    ("reduce_gradient", """
        op, axes = node.arg
        if op is Ops.ADD:
            return (grad.expand(*x.shape),)
        is_largest = x.eq(node.expand(*x.shape))
        return (is_largest * grad / is_largest.sum(),)
        """, "Element (0, 1) should be 3"),
    ("reduce_gradient", """
        op, axes = node.arg
        if op is Ops.ADD:
            return (grad.expand(*x.shape),)
        is_largest = x.eq(node.expand(*x.shape))
        share = is_largest / is_largest.sum(*axes, keepdim=True)
        return (share * grad + 0 * x.sum(),)
        """, "A NaN spoils the gradient of a different element: (1, 0)"),
    ("where_gradient", "return None, condition.where(0, grad), condition.where(grad, 0)",
     "These two are swapped"),
    ("where_gradient", "return condition.where(grad, 0), condition.where(0, grad)",
     "a tuple with a gradient for each source"),
    ("reshape_gradient", "return (grad,)", "A gradient has the shape of its source, (2, 3)"),
    ("permute_gradient", "return (grad.permute(*node.arg),)", "This permutes the same way again"),
    ("expand_gradient", "return (grad,)", "still has the shape of the result"),
    ("expand_gradient", """
        axes = [axis for axis, size in enumerate(x.shape) if size != node.shape[axis]]
        return (grad.sum(*axes),)
        """, "The axis is gone"),
    ("expand_gradient", """
        return (grad.shrink(*((0, size) for size in x.shape)),)
        """, "Only the first of the three gradients arrives"),
    ("shrink_gradient", "return (grad.pad(*node.arg),)", "`end` is an index"),
    ("pad_gradient", "return (grad.shrink(*((0, size) for size in x.shape)),)",
     "Those are the first three"),
    ("pad_gradient", "return (grad.shrink(*node.arg),)", "node.arg holds widths"),
    ("reduce_gradient", """
        op, axes = node.arg
        if op is Ops.ADD:
            return (grad.expand(*x.shape),)
        return (x.eq(node.expand(*x.shape)) * grad,)
        """, "They share it"),
    ("reduce_gradient", "return (grad.expand(*x.shape),)", "That is the row of a sum"),
    ("gradient", """
        between = {}
        for node in loss.toposort():
            if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
                between[node] = None
        grads = {loss: loss.const(1.0)}
        for node in reversed(between):
            if node.op in GRADIENT:
                parts = GRADIENT[node.op](grads[node], node, *node.src)
                for source, part in zip(node.src, parts, strict=True):
                    if source in between and part is not None:
                        grads[source] = part
        return [grads.get(node, loss.const(0.0)) for node in wanted]
        """, "`a` gets two gradients, 1 and 5"),
    ("gradient", """
        grads = {}
        def down(node, grad):
            grads[node] = grads[node] + grad if node in grads else grad
            if node.op in GRADIENT:
                for source, part in zip(node.src, GRADIENT[node.op](grad, node, *node.src)):
                    if part is not None:
                        down(source, part)
        down(loss, loss.const(1.0))
        return [grads.get(node, loss.const(0.0)) for node in wanted]
        """, "This follows every path"),
    ("gradient", """
        between = {}
        for node in loss.toposort():
            if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
                between[node] = None
        grads = {loss: loss.const(1.0)}
        for node in reversed(between):
            if node.op in GRADIENT:
                parts = GRADIENT[node.op](grads[node], node, *node.src)
                for source, part in zip(node.src, parts, strict=True):
                    if source in between and part is not None:
                        grads[source] = grads[source] + part if source in grads else part
        return [grads[node] for node in wanted]
        """, "KeyError"),
    ("gradient", """
        between = {}
        for node in loss.toposort():
            if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
                between[node] = None
        grads, todo = {loss: loss.const(1.0)}, [loss]
        while todo:
            node = todo.pop(0)
            if node.op in GRADIENT and node in between:
                parts = GRADIENT[node.op](grads[node], node, *node.src)
                for source, part in zip(node.src, parts, strict=True):
                    if source in between and part is not None:
                        if source not in grads:
                            todo.append(source)
                        grads[source] = grads[source] + part if source in grads else part
        return [grads.get(node, loss.const(0.0)) for node in wanted]
        """, "Part of the gradient of s is lost"),
    ("SGD.step", """
        for param, grad in zip(self.params, loss.gradient(*self.params)):
            param.uop = (param + grad * self.lr).uop
        return loss.realize(*self.params)
        """, "The step goes uphill"),
    ("SGD.step", """
        for param, grad in zip(self.params, loss.gradient(*self.params)):
            param.uop = (param - grad * self.lr).uop
        return loss
        """, "Otherwise the next step's graph contains this one's"),
    ("SGD.step", """
        for param in self.params:
            (grad,) = loss.gradient(param)
            param.uop = (param - grad * self.lr).uop
            param.realize()
            loss.realize()
        return loss
        """, "b has not moved"),
    ("Adam.step", """
        grads = loss.gradient(*self.params)
        for param, m, v, grad in zip(self.params, self.m, self.v, grads):
            m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
            v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
            param.uop = (param - m * self.lr / (v.sqrt() + self.eps)).uop
        return loss.realize(*self.state)
        """, "The averages are not corrected"),
    ("Adam.step", """
        grads = loss.gradient(*self.params)
        self.b1_power.uop = (self.b1_power * self.b1).uop
        self.b2_power.uop = (self.b2_power * self.b2).uop
        for param, m, v, grad in zip(self.params, self.m, self.v, grads):
            m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
            v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
            mean, square = m / (1 - self.b1_power), v / (1 - self.b2_power)
            param.uop = (param - mean * self.lr / (square.sqrt() + self.eps)).uop
        return loss.realize(*self.params)
        """, "Otherwise the next step's graph contains this one's"),
    ("Adam.step", """
        grads = loss.gradient(*self.params)
        self.b1_power.uop = (self.b1_power * self.b1).uop
        self.b2_power.uop = (self.b2_power * self.b2).uop
        for param, m, v, grad in zip(self.params, self.m, self.v, grads):
            m = m * self.b1 + grad * (1 - self.b1)
            v = v * self.b2 + grad * grad * (1 - self.b2)
            mean, square = m / (1 - self.b1_power), v / (1 - self.b2_power)
            param.uop = (param - mean * self.lr / (square.sqrt() + self.eps)).uop
        return loss.realize(*self.state)
        """, "Each step forgets the ones before it"),
    ("Adam.step", """
        grads = loss.gradient(*self.params)
        self.count = getattr(self, "count", 0) + 1
        for param, m, v, grad in zip(self.params, self.m, self.v, grads):
            m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
            v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
            mean, square = m / (1 - self.b1**self.count), v / (1 - self.b2**self.count)
            param.uop = (param - mean * self.lr / (square.sqrt() + self.eps)).uop
        return loss.realize(*self.state)
        """, "The graph has a constant in it that changes with every step"),
    ("SGD", """
        def __init__(self, params, lr=0.1):
            self.params, self.lr = params, lr
        """, "SGD has no method `step` yet"),
    ("Adam.__init__", """
        self.params, self.lr, self.b1, self.b2, self.eps = params, lr, 0.9, 0.999, 1e-8
        self.m = [Tensor(param.numpy() * 0) for param in params]
        self.v = [Tensor(param.numpy() * 0) for param in params]
        self.b1_power, self.b2_power = Tensor([1.0]), Tensor([1.0])
        self.state = [*params, *self.m, *self.v, self.b1_power, self.b2_power]
        """, "b1, b2 and eps are not used"),
    ("Mine", "def tanh(x):\n    return (x.maximum(-9) * 2).exp() * 0", "`tanh`: Element (0,)"),
    ("Mine", "def relu2(x):\n    return x.relu() * x", "and there is none"),
    ("Mine", """
        def __abs__(x):
            return x.maximum(-x)

        def minimum(x, y):
            return -(-x).maximum(-x.const(y))
        """, "and there are `__abs__` and `minimum`"),
    ("Mine.tanh", """
        e = (x * 2).exp()
        return (e - 1) / (e + 1)
        """, "one element is nan. It is the wrong way round where numbers get large"),
    ("Mine.tanh", "return 2 / ((x * -2).exp() + 1) - 1", "infinity is multiplied by 0"),
    ("Mine.tanh", "return (2 / ((x.maximum(-9) * -2).exp() + 1) - 1).detach()",
     "The values of `tanh` are right, and its gradient isn't. It is 0 everywhere"),
    ("Mine.__pow__", "return (x.log() * n).exp()", "`__pow__`: one element is nan"),
    ("Mine.__pow__", """
        power = x
        for _ in range(int(n) - 1):
            power = power * x
        return power
        """, "`__pow__`: Element (0,) should be 0.25"),
    ("Mine.__getitem__", """
        return x.shrink((key, key + 1)).reshape()
        """, "ValueError"),
    ("Mine.__getitem__", """
        key = key if isinstance(key, tuple) else (key,)
        bounds = [range(n)[k] if isinstance(k, slice) else range(n)[k : k + 1 or None]
                  for k, n in zip((*key, *[slice(None)] * len(x.shape)), x.shape)]
        return x.shrink(*((r.start, r.stop) for r in bounds))
        """, "The shape should be (3,), and it is (1, 3)"),
    ("Mine", """
        def sin(x):
            return x.alu("SIN")

        add_op("SIN", np.sin, lambda grad, node, x: (grad * node,))

        def sigmoid(x):
            return 1 / ((-x.maximum(-40)).exp() + 1)

        def silu(x):
            return x * x.sigmoid()
        """, "The values of `sin` are right, and its gradient isn't. Element (0,) should be"),
]  # fmt: skip
