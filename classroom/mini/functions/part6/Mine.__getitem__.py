

# %% wrong: says ValueError
def __getitem__(x, key):
    return x.shrink((key, key + 1)).reshape()

# %% wrong: says The shape should be (3,), and it is (1, 3)
def __getitem__(x, key):
    key = key if isinstance(key, tuple) else (key,)
    bounds = [range(n)[k] if isinstance(k, slice) else range(n)[k : k + 1 or None]
              for k, n in zip((*key, *[slice(None)] * len(x.shape)), x.shape)]
    return x.shrink(*((r.start, r.stop) for r in bounds))
