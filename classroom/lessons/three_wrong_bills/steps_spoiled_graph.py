"""Spoil a graph

Hint: Copy `tidy_numbers` from above. Which other node could become something that makes no sense?
Hint: A `LOAD` has to know where to read, and a `RANGE` how often to loop. Which field says so?
Take it away with `replace`.
Because: A load without an address, or a loop without a length, means nothing. Each kind of node
has a row in the spec that says what it needs, and the first node that breaks its row is named.
"""

from classroom.ask import Wrong, call, fresh_tensor, small_tensor, wants
from classroom.sabotage import healthy
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop import UOp


@healthy()
def check(answer) -> str:
    """answer(sink): a kernel's graph, changed so that SPEC refuses it, in a way of their own."""
    (item,) = (small_tensor(3, 4) * fresh_tensor(4)).sum(axis=1).schedule()
    got = call(answer, item.ast)
    wants(got, UOp, "a graph: the UOp that `substitute` gives back")
    if got is item.ast:
        names = ", ".join(sorted({u.op.name for u in got.toposort()}))
        raise Wrong("This is the graph that you were given, with nothing changed. Does it have the "
                    "op that you replace?", more=(("its ops", names),))  # fmt: skip
    try:
        verify(got, spec_kernel)
    except SpecError as error:
        refused = str(error).partition(" ")[0].removeprefix("Ops.")
    else:
        raise Wrong("SPEC accepts this graph. You changed it, but it is still a legal one.")
    if refused == "MUL":
        raise Wrong("SPEC refuses the multiplication, as it did above. Spoil something else.")
    return f"SPEC refuses your `{refused}` before a line of C is written."

# %% shared
from tinyframe.uop import Ops
def replaced(old, **changed):
    """A stage that replaces something in every node of an op."""
    return lambda sink: sink.substitute(
        {u: u.replace(**changed) for u in sink.toposort() if u.op is old}
    )

# %% wrong, each line
lambda sink: sink  # says nothing changed
replaced(Ops.MUL, op=Ops.ADD)  # says still a legal one
lambda sink: list(sink.toposort())  # says has to be a graph

# %% wrong: says Spoil something else
from tinyframe.dtype import dtypes
replaced(Ops.MUL, dtype=dtypes.int)

# %% right: a loop without a length
def spoil(sink):
    return sink.substitute({u: u.replace(src=()) for u in sink.toposort() if u.op.name == "RANGE"})
