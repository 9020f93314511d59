# %% shared
def only_the_root(node, passes):
    return next((s for p in passes for s in p.steps if s.after is node), None)

# %% wrong, each line
only_the_root  # says it was there before

# %% wrong: says has to be a step
def the_rule(node, passes):
    step = only_the_root(node, passes)
    return step and step.rule
the_rule

# %% wrong: text for identity, and only the top of what a step gave
def who_made(node, passes):
    for one in passes:
        for step in one.steps:
            if step.after.render() == node.render():
                return step

# %% wrong: its number, and not the step
def who_made(node, passes):
    steps = [step for one in passes for step in one.steps]
    for n, step in enumerate(steps):
        if node in step.after.toposort() and node not in step.before.toposort():
            return n

# %% wrong: only the last pass is asked, in which nothing is made
def who_made(node, passes):
    for step in passes[-1].steps:
        if node in step.after.toposort() and node not in step.before.toposort():
            return step

# %% right
def with_sets(node, passes):
    steps = (s for p in passes for s in p.steps)
    for step in steps:
        if node in {*step.after.toposort()} - {*step.before.toposort()}:
            return step
    return None
with_sets

# %% right: a chain and a filter
def who_made(node, passes):
    from itertools import chain
    steps = chain.from_iterable(one.steps for one in passes)
    is_new = lambda s: node in s.after.toposort() and node not in s.before.toposort()
    return next(filter(is_new, steps), None)
