"""Where there is no full sandbox, as on macOS, submissions are still graded, but not trusted ones
only: what is hostile is tried on Linux."""

import sys

collect_ignore = [] if sys.platform == "linux" else ["test_hostile.py", "test_sandbox.py"]
