# %% shared
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops

# %% wrong, each line
(UPat(Ops.TRUNC), lambda grad: grad)  # says returns a tuple
(UPat(Ops.TRUNC), lambda grad: (grad * 0,))  # says element
(UPat((Ops.TRUNC, Ops.SIN)), lambda grad: (grad,))  # says matches SIN
lambda grad: (grad,)  # says has to be a pair
(UPat(Ops.TRUNC), lambda grad: (grad * 2,))  # trains, but twice as fast as it should
(UPat(), lambda grad: (grad,))  # a row for every op there is
(UPat(Ops.TRUNC), lambda grad, x: (grad,))  # says just one parameter

# %% right, each line
[UPat(Ops.TRUNC), lambda grad: [grad]]  # lists for tuples
(UPat(Ops.TRUNC, src=(UPat.var('x'),)), lambda grad, x: (grad,))  # names the source, and doesn't use it
