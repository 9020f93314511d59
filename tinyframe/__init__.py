"""tinyframe: a deep-learning framework that shows every step of its work.

from tinyframe import Tensor
"""

import sys
from importlib import import_module

from tinyframe import (
    algebra,  # noqa: F401  provides UOp.simplify and UOp.st
    observe,
)
from tinyframe.device import Device, GlobalCounters
from tinyframe.dtype import dtypes
from tinyframe.jit.jit import TinyJit
from tinyframe.settings import Context, check_environment, settings
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp

Variable = UOp.variable

check_environment()  # nothing that is set is ignored without a word
observe.explorer = lambda: import_module("tinyframe.viz.explorer.session").session()
if settings.VIZ:
    observe.explorer()  # now, so that no Tensor is missed
if "IPython" in sys.modules:  # in a notebook, what the last line of a cell gives is drawn
    import_module("tinyframe.notebook").draw_in(sys.modules["IPython"].get_ipython())

__all__ = ["Context", "Device", "GlobalCounters", "Tensor", "TinyJit", "UOp", "Variable", "dtypes"]
