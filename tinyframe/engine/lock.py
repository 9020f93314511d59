"""One thread at a time."""

import threading

# Held from when a schedule is made until what it gave is known to all: two threads that want the
# same value compute it once, and a change in place is made once.
running = threading.RLock()
