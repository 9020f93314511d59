"""An addition far away

Hint: How many bytes go through the cable for one element, there and back?
Hint: 12 bytes at 10 bytes a nanosecond. How long does an addition take here?
Because: Each element needs 12 bytes on the cable, 8 on the way there and 4 on the way back, and
at 10 bytes a nanosecond that's 1.2 ns. Here, the whole addition takes 1 ns. However fast FAR
adds, the numbers arrive too late.
"""

from classroom.ask import predicts
from classroom.far import addition_pays_from

check = predicts(addition_pays_from, "always", "thousands", "millions", "never")

# %% guesses
("never", "always", "thousands", "millions")

# %% asked again, each line
'from millions'  # two words
