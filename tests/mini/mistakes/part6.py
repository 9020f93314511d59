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
    ("exp2_gradient", "return (grad * node,)", "The logarithm of 2 is missing"),
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
        between = nodes_between(loss, wanted)
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
        between = nodes_between(loss, wanted)
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
        between = nodes_between(loss, wanted)
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
        """, "has to change with every step"),
]  # fmt: skip
