# %% shared
from classroom.own_device import OurRunner
from classroom.python_text import PythonText, function_of
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from time import perf_counter
class Mine(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)

# %% wrong, each line
lambda *bufs: None  # says asks for the class

# %% wrong: says values of its Variables
class Deaf(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs)
Deaf

# %% wrong: says different order
class Backwards(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs[::-1], *vals)
Backwards

# %% wrong: says how many seconds it took
class Timeless(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)
Timeless

# %% wrong: says ran more than once
class Twice(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)
        start = perf_counter()
        self.function(*bufs, *vals)
        return perf_counter() - start if wait else None
Twice

# %% wrong: says isn't in seconds
class Milliseconds(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return (perf_counter() - start) * 1000
Milliseconds

# %% wrong: says the later time from the earlier
class Negative(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return start - perf_counter()
Negative

# %% wrong: says Nothing was computed
class OnlyIfAsked(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        if wait:
            start = perf_counter()
            self.function(*bufs, *vals)
            return perf_counter() - start
OnlyIfAsked

# %% wrong: a clock that stands still while the kernel sleeps
from time import process_time
class SnakeRunner(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        before = process_time()
        self.function(*bufs, *vals)
        if wait:
            return process_time() - before

# %% wrong: says the value of its Variable
class Numbered(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *range(len(vals)))
Numbered

# %% right, each line
OurRunner

# %% right: nanoseconds, and False where nobody asked
from time import perf_counter_ns
class SnakeRunner(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)
    def __call__(self, *bufs, vals=(), wait=False, **sizes):
        before = perf_counter_ns()
        self.function(*[*bufs, *map(int, vals)])
        return wait and (perf_counter_ns() - before) / 1e9
