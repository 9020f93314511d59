"""How often rules fire

Hint: Each node is done after its sources. What has the left side of each ADD become when its turn
comes?
Hint: In pairs, there are only three ADD nodes, since equal nodes are one. After the first, each
ADD gives a product of a product: one more rewrite.
Because: One after another, there are seven ADDs, and each becomes a product in one step. In pairs
there are three different ADDs; the second and third become (i * 2) * 2 and (i * 4) * 2, so the
third row has to fire twice: 3 + 2.
"""

from classroom.ask import predicts
from classroom.lessons.rules.shared import rewrites_of_two_sums

check = predicts(rewrites_of_two_sums)

# %% guesses
((7, 5), (7, 7), (7, 3), (1, 1), (8, 4))

# %% asked again, each line
{'one by one': 7, 'in pairs': 5}  # a dict
