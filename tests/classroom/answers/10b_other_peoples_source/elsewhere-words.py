# %% shared
from classroom.other_frameworks import FRIENDS, PINNED, ROOMS, room_of
MEANT = {n: word for n, (_, _, word, _) in enumerate(FRIENDS, 1)}

# %% wrong, each line
{**MEANT, 8: "program"}  # says Which of our words is 'program'
["kernel"] * 8  # says Not that one
"opts"  # says has to be a dict

# %% right, each line
MEANT
{str(n): f" {word.capitalize()}" for n, word in MEANT.items()}
