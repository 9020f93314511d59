"""Write `names(job)`: it calls `job()`, and returns the names of the kernels that ran meanwhile, in
order.
Hint: Who's told when a kernel has run?
Hint: `observe.py`: subclass Observer, write `ran`, and call the job inside of `observing`.
Because: Nobody has to be asked: the runner tells whoever observes. That's how the pictures and the
explorer know what happened.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.witnessed)

# %% shared
class Watching(Observer):
    def __init__(self):
        self.found = []
    def ran(self, work):
        self.found.append(work.spec.name)

def seen_by(job):
    with observing(Watching()) as watching:
        job()
    return watching.found

# %% wrong, each line
lambda job: seen_by(job)[-1:]  # says not the kernels that ran
lambda job: "E_3"  # says has to be a list

# %% right, each line
lambda job: tuple(seen_by(job))  # a tuple

# %% asked again, each line
lambda job: None  # nothing yet

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

# %% right: reads what DEBUG=2 prints
def names(job):
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()) as said, Context(DEBUG=2):
        job()
    return [line.split()[1] for line in said.getvalue().splitlines() if line[:3] == "CPU"]
