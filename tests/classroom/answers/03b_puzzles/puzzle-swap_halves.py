# %% wrong, each line
lambda a: a.roll(len(a) // 2)  # `roll` is no tool

# %% right: two pads and a sum
def swap_halves(a):
    h = len(a) // 2
    return a[h:].pad((0, h)) + a[:h].pad((h, 0))

# %% right: two halves, each padded on one side
def swap_halves(a):
    n, half = len(a), len(a) // 2
    return a[half:].pad(((0, half),)) + a[:half].pad(((half, 0),))
