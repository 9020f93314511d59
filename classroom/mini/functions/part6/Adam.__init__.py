

# %% wrong, changed: says b1, b2 and eps are not used
# -     self.params, self.lr, self.b1, self.b2, self.eps = params, lr, b1, b2, eps
# +     self.params, self.lr, self.b1, self.b2, self.eps = params, lr, 0.9, 0.999, 1e-8
