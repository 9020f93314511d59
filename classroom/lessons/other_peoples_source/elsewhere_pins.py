"""Ten files and their rooms

Hint: Don't look at the names first. What does each file do, and where have you seen that in
tinyframe?
Hint: Whatever asks whether two things can be one is in the room schedule. Whatever changes loops
is in loops, and writes nothing.
Because: What a file does says more than its name: whoever fuses is the schedule, whoever splits
and vectorizes is loops, and a for that's written out is code.
Right: Ten doors in houses that you'd never entered, and you knew what's behind each.
"""

from classroom.exercise import Wrong
from classroom.lessons.other_peoples_source.shared import understood
from classroom.other_frameworks import PINNED, ROOMS, as_pins, room_of


def check(answer) -> None:
    """{1: "schedule", …}: a room for each file."""
    found = understood(answer, lambda: as_pins(answer), len(PINNED), "files are pinned")
    for number, file in enumerate(PINNED, 1):
        room = found[file]
        if room not in ROOMS:
            raise Wrong(f"There's no room {room!r}. The rooms are {', '.join(ROOMS)}.",
                        f"file {number}, `{file}`")  # fmt: skip
        if room != room_of(file):
            wrong = sum(found[f] != room_of(f) for f in PINNED)
            others = f" {wrong - 1} more aren't right, either." if wrong > 2 else ""
            others = " One more isn't right, either." if wrong == 2 else others
            raise Wrong(f"`{room}` is the room for this: {ROOMS[room]}. This file does something "
                        f"else: {PINNED[file]}.{others}", f"file {number}, `{file}`")  # fmt: skip

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
