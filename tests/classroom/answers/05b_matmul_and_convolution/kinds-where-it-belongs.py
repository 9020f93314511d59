# %% shared
def differences(scene, piece):
    return scene.unfold(0, piece.shape[0], 1).unfold(1, piece.shape[1], 1) - piece

# %% wrong, each line
lambda s, p: differences(s, p).sum((2, 3))  # says cancel
lambda s, p: (differences(s, p) ** 2).contiguous().sum((2, 3))  # says 2 kernels; it should take 1

# %% wrong: not squared
def mismatch(scene, piece):
    high, wide = piece.shape
    return (scene.unfold(0, high, 1).unfold(1, wide, 1) - piece).abs().sum((2, 3))

# %% wrong: multiplied out: the squares of the piece are summed by themselves, in a second kernel
def mismatch(scene, piece):
    high, wide = piece.shape
    seen = scene.unfold(0, high, 1).unfold(1, wide, 1)
    return (seen * seen).sum((2, 3)) - 2 * (seen * piece).sum((2, 3)) + (piece * piece).sum()

# %% right, each line
lambda s, p: differences(s, p).square().flatten(2).sum(-1)

# %% right: a pixel of the piece at a time, added up
def mismatch(scene, piece):
    (h, w), (high, wide) = scene.shape, piece.shape
    total = 0
    for i in range(high):
        for j in range(wide):
            seen = scene[i : i + h - high + 1, j : j + w - wide + 1]
            total = total + (seen - piece[i, j]) ** 2
    return total
