"""tinyframe: a deep-learning framework small enough to read in a week.

from tinyframe import Tensor
"""

from tinyframe import algebra  # noqa: F401  provides UOp.simplify and UOp.st
from tinyframe.counters import GlobalCounters
from tinyframe.device import Device
from tinyframe.dtype import dtypes
from tinyframe.engine.jit import TinyJit
from tinyframe.settings import Context
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp

Variable = UOp.variable

__all__ = ["Context", "Device", "GlobalCounters", "Tensor", "TinyJit", "UOp", "Variable", "dtypes"]
