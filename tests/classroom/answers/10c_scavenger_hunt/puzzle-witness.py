# %% wrong: a warm-up: what it was given to run once has run twice
class Seen(Observer):
    def __init__(self):
        self.names = []
    def ran(self, work):
        if work.spec:
            self.names.append(work.spec.name)

def names(job):
    job()
    with observing(Seen()) as seen:
        job()
    return seen.names

# %% wrong: in the order of the alphabet, and each only once
class Seen(Observer):
    def __init__(self):
        self.names = set()
    def ran(self, work):
        self.names.add(work.spec.name)

def names(job):
    with observing(Seen()) as seen:
        job()
    return sorted(seen.names)

# %% right: reads what DEBUG=2 prints
def names(job):
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()) as said, Context(DEBUG=2):
        job()
    return [line.split()[1] for line in said.getvalue().splitlines() if line[:3] == "CPU"]
