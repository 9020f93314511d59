# %% wrong, each line
lambda stages, name: stages  # says is still there
lambda stages, name: []  # says `simplify` is gone
lambda stages, name: [n for n, _ in stages if n != name]  # says (name, function) pairs
lambda stages, name: sorted((s for s in stages if s[0] != name), key=lambda s: s[0])  # says in its place
lambda stages, name: name  # says has to be a list
lambda stages, name: [s for s in stages if name not in s[0]][1:]  # one too many is gone
lambda stages, name: [f for n, f in stages if n != name]  # no names

# %% wrong: a list that shrinks while one walks along it
def mended(stages, name):
    for stage in stages:
        if stage[0] == name:
            stages.remove(stage)
    return stages

# %% right, each line
lambda stages, name: [s for s in stages if name not in s]  # in, on a pair

# %% right: taken out of the list itself
def mended(stages, name):
    for stage in list(stages):
        if stage[0] == name:
            stages.remove(stage)
    return stages
