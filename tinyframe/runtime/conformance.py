"""`python -m tinyframe.runtime.conformance`: see tools/conformance.py."""

from tinyframe.tools.conformance import main

if __name__ == "__main__":
    raise SystemExit(main())
