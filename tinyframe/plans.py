"""`python -m tinyframe.plans`: see tools/plans.py."""

from tinyframe.tools.plans import main

if __name__ == "__main__":
    raise SystemExit(main())
