# %% shared
from classroom.contributing.review import first_lines
LINES = first_lines()
ALL_EIGHT = list(LINES.values())

# %% wrong, each line
ALL_EIGHT[:5]  # says You found 5 of 8
range(1, 80)  # says all eight, and
[*ALL_EIGHT, 800]  # says There's no line 800
2.5  # says has to be the number
[5, 22, 32, 33, 38, 46, 48, 64]  # line 46 is right: the n is missing in 47

# %% right, each line
ALL_EIGHT
{5, 24, 36, 33, 38, 47, 49, 65}  # other lines, same faults
