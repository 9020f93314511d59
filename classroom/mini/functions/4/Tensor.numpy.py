# %% wrong: says AttributeError
def numpy(self):
    return self.uop.arg.data
