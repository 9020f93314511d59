"""One thread at a time."""

import os
import threading

# Held from when a schedule is made until what it gave is known to all: two threads that want the
# same value compute it once, and a change in place is made once.
running = threading.RLock()

# os.fork() waits for it too: a child has none of its parent's other threads, so that what one of
# them had begun would never be finished. So what a Tensor means changes under this lock, or in one
# step, which a child finds made or not.
os.register_at_fork(
    before=running.acquire, after_in_parent=running.release, after_in_child=running.release
)
