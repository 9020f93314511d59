"""Stage 4b: what is stored, and the kernels that store it."""

HINTS = {
    "stored": (
        "Without reductions, what would you store? Then take them one at a time. Somewhere the "
        "values of each one have to end up in memory. What may its kernel still do with them "
        "first, and when is it over?",
        "From each reduction, go on to its user, as long as there is just one, it isn't a "
        "reduction, it has as many elements, and no other reduction's kernel has taken it "
        "already. Stop at what was asked for. Where you stop is stored. You need a dict from each "
        "node to its users, and the SINK counts as one.",
        "Every reduction walks down to the last node that its own loops can finish, and that node "
        "is stored. If that is what was asked for anyway, the reduction costs no kernel of its "
        "own. `taken` keeps a second reduction out of the same kernel.",
    ),
    "cut": (
        "You want a copy of the graph, in which some nodes have become BUFFERs. If you have the "
        "copies of a node's sources, how do you make the copy of the node?",
        "Go through toposort() with a dict: what stands for each node in the kernels? Mostly a "
        "node with the same op and arg, whose sources are what stands for its sources. And for a "
        "node that is stored, what do its users see instead?",
        "A stored node's copy becomes the graph of its kernel, and from then on its memory stands "
        "for it. So everything that is copied later starts from that memory. Where nothing below "
        "was stored, the copy is the very same node: the table of stage 4 sees to that.",
    ),
    "run_kernels": (
        "A kernel's graph is a graph like any other, and it starts from memory. What do you have "
        "that computes such a graph? Where do the values have to go before the next kernel runs?",
        "`interpret` takes a SINK, and you can make one of a single kernel's graph. Write into "
        "the array that is there already (`data[...] = values`), since the other kernels hold the "
        "same BUFFER. In the end, which BUFFER has the values of each source of the SINK?",
        "The kernels come in an order in which they can run, so one after another will do. A "
        "source that was stored is in its kernel's memory. Any other was a BUFFER to begin with.",
    ),
}
