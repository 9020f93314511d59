# %% shared
from tinyframe.uop import Ops

# %% wrong, each line
lambda node: True  # says accuses an innocent
lambda node: False  # says lets this one go
lambda node: node.op.name  # says True or False
lambda node: any(s.dtype != node.dtype for s in node.src)  # a comparison of floats is a bool, and rightly so
lambda n: n.op == 'MUL' and n.dtype != n.src[0].dtype  # an op is no string

# %% right, each line
lambda node: np.all([node.op is Ops.MUL, len({u.dtype for u in (node, *node.src)}) > 1])  # NumPy's True
lambda n: n.op is Ops.MUL and {s.dtype for s in n.src} != {n.dtype}  # sets
