"""How many programs three trainings need

Hint: A program is found again if the numbered graph is the same node. What differs between the
graphs of step 1 and step 2?
Hint: A Python number becomes a CONST, with its value as `arg`. A Tensor becomes a parameter, and
its value isn't in the graph.
Because: A constant is part of the program. If it changes from step to step, each step is a new
program, compiled anew: five. A Tensor is memory, so its value isn't in the key, and one program
does all five steps.
"""

import numpy as np

from classroom.ask import fresh_sizes, predicts
from classroom.mini import own_c

SECONDS = 60.0


def programs_of_three_trainings() -> tuple[int, ...]:
    part8 = own_c.module("part8")
    Tensor = part8.Tensor
    (size,) = fresh_sizes(1)
    found = []
    for rate in (lambda n: 0.1, lambda n: 0.1 / n, lambda n: Tensor([0.1 / n])):
        part8.plan.cache_clear()
        part8.runner.cache_clear()
        w = Tensor(np.ones(size))
        with own_c.on(part8.CRunner):
            for n in range(1, 6):
                w = (w - rate(n) * w).realize()
        found.append(part8.runner.cache_info().misses)
    return tuple(found)


check = predicts(programs_of_three_trainings)

# %% guesses
((1, 5, 1), (1, 1, 1), (5, 5, 5), (1, 5, 5))

# %% asked again, each line
(1, 5)  # two numbers for three

# %% right, each line
[1.0, 5.0, 1.0]  # floats in a list
