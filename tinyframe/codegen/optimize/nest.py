"""`Nest` under the path it had: see `plans.py`."""

from tinyframe.codegen.optimize.plans import Nest

__all__ = ["Nest"]
