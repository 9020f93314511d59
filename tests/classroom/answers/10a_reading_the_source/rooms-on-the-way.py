# %% shared
from collections import Counter, OrderedDict

# %% wrong: says You counted calls
def calls_counted(calls):
    return dict(Counter(file for file, _ in calls))
calls_counted

# %% wrong: says the order isn't
def last_calls_place(calls):
    return {f: len({n for g, n in calls if g == f}) for f, _ in reversed(calls)}
last_calls_place

# %% wrong: says has to be a dict
def only_names(calls):
    return [*dict.fromkeys(file for file, _ in calls)]
only_names

# %% wrong: says the numbers of functions aren't
def one_each(calls):
    return {file: 1 for file, _ in calls}
one_each

# %% wrong: says Not every file is there once
def by_function(calls):
    return {name: 1 for _, name in calls}
by_function

# %% wrong: in the order of the alphabet
def rooms(calls):
    return {f: len({g for h, g in calls if h == f}) for f in sorted({f for f, _ in calls})}

# %% wrong: the names themselves, not how many
def rooms(calls):
    found = {}
    for file, name in calls:
        found.setdefault(file, set()).add(name)
    return found

# %% right
def pairs(calls):
    found = OrderedDict()
    for file, name in calls:
        found.setdefault(file, []).append(name)
    return ((file, len({*names})) for file, names in found.items())
pairs

# %% right: a Counter keeps the order of first sight
def rooms(calls):
    return Counter(file for file, _ in dict.fromkeys(calls))
from collections import Counter
