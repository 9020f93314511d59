# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST, REORDER = OptOps.VECTOR, OptOps.UPCAST, OptOps.REORDER
def translator(end=True, order=True, lanes_last=True, reorders=True, splits_in=True, inverse=False):
    """A translator that does or does not do what it should."""

    def to_tvm(sch, opts):
        loops, unrolled, vectors = [*sch.get_loops()], [], []
        for opt in opts:
            if opt.op is REORDER:
                if reorders:
                    loops = [loops[n] for n in opt.axis]
                continue
            if opt.op is OptOps.THREAD:
                sch.parallel(loops[opt.axis])
                continue
            halves = sch.split(loops[opt.axis], [None, opt.arg])
            if inverse:
                loops[opt.axis] = halves[1]
                continue
            kept = halves if opt.op is OptOps.SPLIT and splits_in else halves[:1]
            loops[opt.axis : opt.axis + 1] = kept
            if opt.op is not OptOps.SPLIT:
                (vectors if opt.op is VECTOR else unrolled).append(halves[1])
        if order:
            sch.reorder(*loops, *unrolled, *vectors)
        if end:
            for loop in unrolled:
                sch.unroll(loop)
            for loop in vectors:
                (sch.vectorize if lanes_last else sch.unroll)(loop)

    return to_tvm

# %% wrong, each line
translator(end=False)  # says should be vectorized
lambda sch, opts: print(end="")  # says as it was
lambda sch, opts: sch.vectorize("x9")  # says There is no loop x9
lambda opts: opts  # says TypeError
3  # says asks for a function

# %% right, each line
translator()

# %% right: puts them in order after each opt
def to_tvm(sch, opts):
    loops, ends = [*sch.get_loops()], {OptOps.VECTOR: [], OptOps.UPCAST: [], OptOps.UNROLL: []}
    for opt in opts:
        if opt.op is OptOps.REORDER:
            loops = list(map(loops.__getitem__, opt.axis))
        elif opt.op is OptOps.THREAD:
            sch.parallel(loops[opt.axis])
        else:
            pair = sch.split(loops.pop(opt.axis), factors=[None, opt.arg])
            kept = pair if opt.op is OptOps.SPLIT else pair[:1]
            loops[opt.axis : opt.axis] = kept
            ends.get(opt.op, []).extend(pair[1:])
        sch.reorder(*loops, *ends[OptOps.UPCAST], *ends[OptOps.UNROLL], *ends[OptOps.VECTOR])
    [sch.vectorize(loop) for loop in ends[OptOps.VECTOR]]
    [sch.unroll(loop) for loop in ends[OptOps.UPCAST] + ends[OptOps.UNROLL]]
