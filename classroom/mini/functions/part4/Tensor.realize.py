

# %% wrong: says t.uop is still an expression
def realize(self, *others):
    Tensor.run(UOp(Ops.SINK, (self.uop, *(tensor.uop for tensor in others))))
    return self

# %% wrong: says This Tensor had a BUFFER already, and got a new one
def realize(self, *others):
    for tensor in (self, *others):
        (values,) = Tensor.run(UOp(Ops.SINK, (tensor.uop,)))
        tensor.uop = UOp(Ops.BUFFER, (), Buffer(values))
    return self

# %% wrong: says computed more than once. Put all expressions into one SINK
def realize(self, *others):
    for tensor in (self, *others):
        if tensor.uop.op is not Ops.BUFFER:
            (values,) = Tensor.run(UOp(Ops.SINK, (tensor.uop,)))
            tensor.uop = UOp(Ops.BUFFER, (), Buffer(values))
    return self

# %% wrong: says has to be a Buffer
def realize(self, *others):
    (values,) = Tensor.run(UOp(Ops.SINK, (self.uop,)))
    self.uop = UOp(Ops.BUFFER, (), values)
    return self

# %% wrong: says t.realize() should return t itself
def realize(self, *others):
    (values,) = Tensor.run(UOp(Ops.SINK, (self.uop,)))
    if self.uop.op is not Ops.BUFFER:
        self.uop = UOp(Ops.BUFFER, (), Buffer(values))

# %% wrong, changed: says Call Tensor.run, which stage 8 will replace
# -     results = Tensor.run(UOp(Ops.SINK, tuple(tensor.uop for tensor in expressions)))
# +     results = interpret(UOp(Ops.SINK, tuple(tensor.uop for tensor in expressions)))

# %% wrong: says a.realize(b) left b an expression
def realize(self, *others):
    waiting = [tensor for tensor in (self, *others) if tensor.uop.op is not Ops.BUFFER]
    results = Tensor.run(UOp(Ops.SINK, tuple(tensor.uop for tensor in waiting)))
    if self in waiting:
        self.uop = UOp(Ops.BUFFER, (), Buffer(results[0]))
    return self

# %% right
def realize(self, *others):
    todo = {t: t.uop for t in (self, *others) if t.uop.op is not Ops.BUFFER}
    if todo:
        for t, values in zip(todo, Tensor.run(UOp(Ops.SINK, (*todo.values(),)))):
            t.uop = UOp(Ops.BUFFER, (), Buffer(values))
    return self
