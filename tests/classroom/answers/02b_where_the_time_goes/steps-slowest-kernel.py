# %% shared
from tinyframe.observe import Observer, observing
class Times(Observer):
    def __init__(self):
        self.kernels = []

    def ran(self, work):
        self.kernels.append((work.spec.name, work.seconds))

def watched(run):
    times = Times()
    with observing(times):
        run()
    return times.kernels

# %% wrong, each line
lambda run: watched(run)[0][0]  # says You gave the first
lambda run: max(watched(run), key=lambda pair: pair[1])  # says the name of a kernel
lambda run: max(watched(run))[0]  # says compared the names

# %% wrong: says was never called
def never_watched(run):
    return "r_160_160_160"
never_watched

# %% wrong: the pair, not the name
def slowest(run):
    times = Times()
    with observing(times):
        run()
    return sorted(times.kernels, key=lambda k: -k[1])[0]

# %% wrong: the largest name
def slowest(run):
    with observing(t := Times()):
        run()
    return max(t.kernels)[0]

# %% right: a with … as, as one would expect
def slowest(run):
    with observing(Times()) as times:
        run()
    times.kernels.sort(key=lambda k: k[1])
    return times.kernels[-1][0]

# %% right: a dictionary by name
def slowest(run):
    seconds = {}
    with observing(t := Times()):
        run()
    for name, s in t.kernels:
        seconds[name] = max(s, seconds.get(name, 0))
    return max(seconds, key=seconds.get)
