

# %% wrong: says AttributeError
def numpy(self):
    return self.uop.arg.data

# %% wrong: says left t an expression
def numpy(self):
    (values,) = Tensor.run(UOp(Ops.SINK, (self.uop,)))
    return values
