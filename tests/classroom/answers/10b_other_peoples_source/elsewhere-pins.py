# %% shared
from classroom.other_frameworks import FRIENDS, PINNED, ROOMS, room_of
ROOM_NAMES, FILES = list(ROOMS), list(PINNED)
PINS = {n: room_of(file) for n, file in enumerate(FILES, 1)}

# %% wrong, each line
{**PINS, 1: "loops"}  # says does something else: takes nodes two at a time
{**PINS, 2: "kitchen"}  # says There's no room 'kitchen'
{**{n: PINS[n] for n in range(1, 10)}, "ops.c": "GPU"}  # says Use their numbers
"loops"  # says has to be a dict

# %% wrong: schedule.py of TVM under schedule: the false friend
rooms = "schedule loops CPU graph schedule schedule code lowering layers lowering"
pins = dict(enumerate(rooms.split(), 1))

# %% right, each line
PINS
{n: ROOM_NAMES.index(room) + 1 for n, room in PINS.items()}
