"""`python -m tinyframe.viz FILE`: opens a trace in the browser, or prints what is in it."""

from __future__ import annotations

import sys

from tinyframe.viz.explorer.terminal import main

if __name__ == "__main__":
    sys.exit(main())
