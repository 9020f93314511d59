# %% shared
from tinyframe import GlobalCounters, Tensor, TinyJit

# %% wrong, each line
lambda run: 1  # says `run` does nothing

# %% wrong: says from before
def total_count(run):
    run()
    return GlobalCounters.kernel_count
total_count

# %% wrong: says ran it 2 times
def counted_twice(run):
    GlobalCounters.reset()
    run()
    run()
    return GlobalCounters.kernel_count
counted_twice

# %% wrong: a warm-up: what it was given to run once has run twice
def kernels_run(run):
    run()
    GlobalCounters.reset()
    run()
    return GlobalCounters.kernel_count

# %% wrong: Times is not defined before the next cell (I had said asked again)
def kernels_run(run):
    times = Times()
    with observing(times):
        run()
    return len(times.kernels)

# %% right: a difference
def kernels_run(run):
    before = GlobalCounters.kernel_count
    run()
    return GlobalCounters.kernel_count - before

# %% right: to be sure that it has happened, as one synchronizes; and a NumPy number
def kernels_run(run):
    GlobalCounters.reset()
    result = run()
    if isinstance(result, Tensor):
        result.numpy()
    return np.int64(GlobalCounters.kernel_count)
