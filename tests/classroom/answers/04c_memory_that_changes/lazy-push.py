# %% shared
from tinyframe import Tensor
def written(window, place, value):
    window[place] = value
    return window

def moved_up(window, value=None):
    window[:-1] = window[1:]
    return window if value is None else written(window, -1, value)

# %% wrong, each line
lambda window, value: window  # says Nothing has changed
lambda window, value: window[1:].cat(Tensor([value]))  # says returns a new Tensor

# %% wrong: the new value twice, and one lost
def push(window, value):
    window[-1] = value
    window[:-1] = window[1:]
    return window

# %% wrong: a new Tensor; the window is as it was
def push(window, value):
    return window[1:].cat(Tensor([value]))

# %% wrong: says in different memory now
def moved_house(window, value):
    window.uop = window[1:].cat(Tensor([value])).realize().uop
    return window
moved_house

# %% right, each line
lambda window, value: moved_up(window, value).realize()

# %% right: one by one, from left to right
def push(window, value):
    for k in range(len(window) - 1):
        window[k] = window[k + 1]
    window[len(window) - 1] = value
    return window
