"""The name of a kernel

Hint: How many results are there, and how many numbers go into each of them?
Hint: The loop over the results is the outer one, and stands first in the name.
Because: There are 4 things, so the outer loop runs 4 times, and the inner loop adds up what the 3
people pay for each of them. The loops follow the results and not the table, and the name follows
the loops.
"""

import re

from classroom.ask import predicts
from classroom.lessons.three_wrong_bills.shared import program, shop


def name_of_column_sums() -> str:
    quantities, prices = shop()
    name = program((quantities * prices).sum(axis=0)).function
    return re.sub(r"n\d+$", "", name)  # n1, n2, …: not the first kernel of these sizes


check = predicts(name_of_column_sums)

# %% guesses
("r_4_3", "r_3_4", "E_3_4", "r_4", "r_12")

# %% wrong, each line
'E_4_3'  # it boils down

# %% asked again, each line
43  # a number is no name

# %% right, each line
'R_4_3'  # capital letters
