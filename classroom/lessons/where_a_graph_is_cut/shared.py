"""What several exercises of this lesson need."""

from classroom.exercise import Wrong
from tinyframe import Tensor
from tinyframe.uop import Ops

# What overrules the scheduler by hand: an expression that is to come apart by itself has none.
BY_HAND = (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.FUSE)


def _left_to_the_rule(tensor: Tensor, case: str) -> None:
    """Wrong where the scheduler was overruled, or random numbers bring kernels of their own."""
    ops = {u.op for u in tensor.uop.toposort()}
    if Ops.THREEFRY in ops:
        raise Wrong("Random numbers bring kernels of their own. Make do without them.", case)
    if forced := sorted(op.name for op in ops.intersection(BY_HAND)):
        raise Wrong(f"There's a {forced[0]} in your graph. Leave the cuts to the scheduler.", case)
