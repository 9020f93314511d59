# %% shared
import numpy as np
def cache(cells, room, renews=True, first=0):
    kept, count = [], 0
    for cell in cells:
        line = cell // 16
        if line not in kept:
            count += 1
            kept.append(line)
        elif renews:
            kept.append(kept.pop(kept.index(line)))
        if len(kept) > room:
            kept.pop(first)
    return count

# %% wrong, each line
lambda cells, room: len(cells)  # says for every read
lambda cells, room: cache(cells, min(room, 2))  # says With many reads

# %% wrong: first in, first out
from collections import deque

def fetches(cells, room):
    lines, count = deque(maxlen=room), 0
    for cell in cells:
        if cell // 16 not in lines:
            lines.append(cell // 16)
            count += 1
    return count

# %% right, each line
lambda cells, room: np.float32(cache(cells, room))

# %% right
def cache_of_ages(cells, room):
    """With the time of the last use of each line, as somebody may write it who likes dicts."""
    used, count = {}, 0
    for now, cell in enumerate(cells):
        count += cell // 16 not in used
        used[cell // 16] = now
        if len(used) > room:
            del used[min(used, key=used.get)]
    return np.int64(count)
cache_of_ages
