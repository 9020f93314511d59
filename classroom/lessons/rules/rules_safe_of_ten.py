"""Which obvious rules are safe

Hint: What are the strangest numbers that a float can be? Take each rule and try them: 0, -0,
infinity, NaN, very large, very small.
Hint: An addition of floats rounds, and a product can overflow. Whole numbers wrap around, which
is kinder than it sounds: an addition and a subtraction still cancel.
Because: For floats, only x * 1, x + x and x < x survive infinities, NaN, signed zeros and
rounding. For whole numbers eight do: wrapping around undoes itself in (x + y) - y, but x * 2 // 2
loses its top bit, and 0 // 0 isn't 1.
"""

from classroom.ask import predicts
from classroom.obvious import safe_rules

check = predicts(safe_rules)

# %% guesses
((3, 8), (10, 10), (8, 10), (3, 10), (5, 9))

# %% asked again, each line
'3 and 8'  # a sentence is no tuple

# %% right, each line
[3.0, 8]  # a list, and a float that is whole
