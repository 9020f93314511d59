# %% shared
def bend(u):
    return (u[:-2] - 2 * u[1:-1] + u[2:]).pad(((1, 1),))

def later(now, before, stiffness=0.5):
    return 2 * now - before + stiffness * bend(now)

def swung(now, before, stiffness):
    following = later(now, before, stiffness)
    before.assign(now)
    now.assign(following)
    return now, before

# %% wrong, each line
lambda now, before: (now, before)  # says Nothing has changed
lambda now, before: (later(now, before), now)  # says returns a new Tensor
lambda now, before: swung(now, before, 0.25)  # says after 1 step: `now`

# %% wrong: before becomes later
def swing(now, before):
    later = 2 * now - before + 0.5 * bend(now)
    now.assign(later)
    before.assign(now)
    return now, before

# %% wrong: one kernel and the roles exchanged: a trick in C, but not the same two Tensors
def swing(now, before):
    before.assign(2 * now - before + 0.5 * bend(now))
    return before, now

# %% wrong: two names, and nothing in place
def swing(now, before):
    now, before = 2 * now - before + 0.5 * bend(now), now
    return now, before

# %% right, each line
lambda now, before: swung(now, before, 0.5)

# %% right
def exchanged(x, y, kept):
    x.assign(y)
    y.assign(kept)
    return x, y
def swung_by_swapping(now, before):
    """First into `before`, which nobody needs after that; then the two exchange their values."""
    before.assign(2 * now - before + bend(now) / 2)
    return exchanged(now, before, now + 0)
lambda now, before: swung_by_swapping(now, before)
