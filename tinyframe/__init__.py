"""tinyframe: a deep-learning framework small enough to read in a week.

from tinyframe import Tensor
"""

import sys

from tinyframe import (
    algebra,  # noqa: F401  provides UOp.simplify and UOp.st
    observe,
)
from tinyframe.counters import GlobalCounters
from tinyframe.device import Device
from tinyframe.dtype import dtypes
from tinyframe.engine.jit import TinyJit
from tinyframe.settings import Context, settings
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp

Variable = UOp.variable



def _explorer() -> observe.Observer:
    from tinyframe.viz.explorer.session import session

    return session()


if "IPython" in sys.modules:  # in a notebook, what the last line of a cell gives is drawn
    from tinyframe.notebook import draw_in

    draw_in(sys.modules["IPython"].get_ipython())

observe.explorer = _explorer
if settings.VIZ:
    observe.explorer()  # now, so that no Tensor is missed

__all__ = ["Context", "Device", "GlobalCounters", "Tensor", "TinyJit", "UOp", "Variable", "dtypes"]
