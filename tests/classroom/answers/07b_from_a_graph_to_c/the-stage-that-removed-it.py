# %% shared
def has(op, nodes):
    return any(u.op is op for u in nodes)

def from_the_end(op, stages):
    """The last stage that has it, then the next."""
    for n in reversed(range(len(stages))):
        if has(op, stages[n][1]):
            return stages[n + 1][0] if n + 1 < len(stages) else ""
    return ""

# %% wrong, each line
lambda op, stages: ""  # says A different stage
lambda op, stages: 0  # says the name of a stage

# %% wrong: says it's still there
def last_that_has_it(op, stages):
    there = [name for name, nodes in stages if has(op, nodes)]
    return there[-1] if there else ""
last_that_has_it

# %% wrong: says returns nothing here
def falls_through(op, stages):
    """A loop that returns what it finds, and nothing after it."""
    for (_, before), (name, nodes) in zip(stages, stages[1:], strict=False):
        if has(op, before) and not has(op, nodes):
            return name
falls_through

# %% wrong: says comes back later
def first_without(op, stages):
    before = False
    for name, nodes in stages:
        if before and not has(op, nodes):
            return name
        before = before or has(op, nodes)
    return ""
first_without

# %% wrong: says No stage removed it
def first_without_at_all(op, stages):
    return next((name for name, nodes in stages if not has(op, nodes)), "")
first_without_at_all

# %% wrong: nothing for an op that never was, and no stage after the last
def removed_by(op, stages):
    there = [n for n, (name, nodes) in enumerate(stages) if op in {u.op for u in nodes}]
    return stages[there[-1] + 1][0]

# %% right, each line
from_the_end

# %% right: forgets what it found if the op comes back
def removed_by(op, stages):
    found = ""
    for (_, old), (name, new) in zip(stages, stages[1:]):
        had, has = (op in [u.op for u in nodes] for nodes in (old, new))
        found = name if had and not has else "" if has else found
    return found
