"""Pictures of every step from an expression to machine code, for notebooks.

    from tinyframe.viz import graph
    graph(x)                 # as the last line of a cell; print(graph(x)) says the same in words

What computing x would do; nothing runs, and x stays as lazy as it was:

    graph(x)                 the graph that x is made of, or a schedule's kernels
    compare(a, b)            two graphs side by side, with their differences marked
    schedule(x)              the kernels in running order, and the buffers between them
    memory(x)                how long each value lives, and in which memory, before and after reuse
    traffic(x)               the bytes that each kernel reads and writes; fused, and step by step
    kernel(x)                the loops of a kernel beside its source; every=True: Opt by Opt
    instructions(x)          each line of a kernel's C beside its machine code
    access(x)                the elements that one iteration, vector, tile or block touches
    rewrites(x)              how a kernel becomes source text, rewrite by rewrite
    memory_layout(x)         the cells of memory under a view, movement op by movement op
    why(x)                   in words only: each value that gets memory, and the reason for it

What computing x does; it is computed:

    timeline(x)              what ran when, on each thread and device
    roofline(x)              how fast each kernel is, under what this machine can do

use_style() makes plots by matplotlib look right on a light page and on a dark one. All but that
and why() give a Picture: `svg()`, `text`, `save(path)`.
"""

from tinyframe.viz.boxes import why
from tinyframe.viz.cells import memory_layout
from tinyframe.viz.charts import use_style
from tinyframe.viz.compare import compare
from tinyframe.viz.graphs import graph
from tinyframe.viz.instructions import instructions
from tinyframe.viz.measured import roofline, timeline
from tinyframe.viz.nests import kernel
from tinyframe.viz.picture import NoLayout, Picture
from tinyframe.viz.rewrites import rewrites
from tinyframe.viz.schedules import memory, schedule, traffic
from tinyframe.viz.touched import access
