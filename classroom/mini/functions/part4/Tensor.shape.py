

# %% wrong: says With @property above its def
def shape(self):
    return self.uop.shape
