"""`python -m tinyframe.ptx`: see tools/ptx.py."""

from tinyframe.tools.ptx import main

if __name__ == "__main__":
    raise SystemExit(main())
