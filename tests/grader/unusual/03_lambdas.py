"""One expression for each task, as far as it goes."""

from functools import reduce

from tinyframe import Tensor
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops

slope = lambda name, x, w: (  # noqa: E731
    w if name == "product" else (x + x) if name == "square" else (1 - (s := x.sigmoid())) * s
)


def old_names():
    made = {
        "Exp": Tensor.exp, "Log": Tensor.log, "Sum": Tensor.sum, "Max": Tensor.max,
        "Relu": Tensor.relu, "Neg": Tensor.neg,
        "_broadcasted": lambda x: x.reshape(1, 3).expand(2, 3),
    }  # fmt: skip
    of_interest = {"EXP2", "LOG2", "REDUCE_AXIS", "WHERE", "EXPAND", "MUL"}
    best = ["EXP2", "LOG2", "REDUCE_AXIS", "WHERE", "MUL", "EXPAND"]
    found = {}
    for name, function in made.items():
        ops = {u.op.name for u in function(Tensor([1.0, 2.0, 3.0]).realize()).uop.toposort()}
        found[name] = min(ops & of_interest, key=best.index)
    return found | {"Less": None}


def huber(error, below, above):
    over, under = error > above, error < -below
    weight = (over | under).where(0.0, 1.0)
    linear = over.where(above, under.where(-below, 0.0))
    constant = over.where(-above * above / 2, under.where(-below * below / 2, 0.0))
    return weight * error * error / 2 + linear * error + constant


def gradient_of_all(loss, start, batches):
    w = start()
    sizes = [len(batch) for batch in batches]
    parts = [loss(w, b).gradient(w)[0].realize() * n for b, n in zip(batches, sizes, strict=True)]
    return sum(parts[1:], parts[0]) / sum(sizes)


straight_row = lambda limit: (  # noqa: E731
    UPat(Ops.TRUNC, src=(UPat.var("x"),), name="z"),
    lambda grad, z, x: ((x < -limit).where(z.const_like(0), (x > limit).where(z * 0, grad)),),
)
forwards = lambda f, x, direction, rules: Tensor(  # noqa: E731
    reduce(
        lambda speeds, u: speeds
        | ({u: rules[u.op.name](u, [speeds.get(s, s.const_like(0)) for s in u.src])}
           if u.op.name in rules and u not in speeds else {}),
        (root := f(x).uop).toposort(),
        {x.uop: direction.uop},
    )[root]
)  # fmt: skip
slope_of_rate = lambda loss, w, rate, steps: loss(  # noqa: E731
    reduce(lambda at, _: at - rate * loss(at).gradient(at)[0], range(steps), w)
).gradient(rate)[0]
