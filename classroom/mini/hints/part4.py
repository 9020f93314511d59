"""Stage 4: the node that exists once, and Tensors that wait."""

HINTS = {
    "UOp.__new__": (
        "You need something to look a node up by, which is equal for equal nodes and different "
        "for different ones. Try (2, 2.0, True) in Python: which of them are equal? And 0.0 and "
        "-0.0? What would you add so that they aren't?",
        "A tuple makes a fine key, and holds anything: what the node is made of, and one more "
        "thing that tells a 2 from a 2.0 and a 0.0 from a -0.0. What is different when you "
        "*print* them? Look the key up in `cls.table`; if nothing is there, make the node and "
        "put it in.",
        "`arg` alone isn't enough, because Python says 2 == 2.0 and 0.0 == -0.0. Their texts "
        "differ. And no `hash` in the key: different things may share a hash, as -1.0 and -2.0 "
        "do.",
    ),
    "UOp.toposort": (
        "When may a node go into the list? Say it as a condition on its sources. And how do you "
        "notice, cheaply, that a node is in the list already?",
        "Keep a list of nodes that are waiting, with this node in it. Look at one of them: if "
        "all of its sources are done, it's done too. If not, it goes back to wait, and the "
        "missing ones are looked at first. A dict remembers an order, and finds a node at once.",
        "A node is done once all of its sources are, so it never comes before one of them. Each "
        "node gets into the dict once, however many users it has: 61 nodes, and not 2^60 paths. "
        "And nothing calls itself, so no graph is too deep.",
    ),
    "interpret": (
        "If you have the values of a node's sources, what do you do to get the node's own? In "
        "which order do you have to go, so that you always have them?",
        "You wrote the order a minute ago. Go through it with a dict from node to values. "
        "COMPUTE has a function for each op but SINK. It takes the node, then the values of "
        "each source.",
        "Sources come first, so what a node needs is always there. Each node is computed once, "
        "although it may have many users.",
    ),
    "Tensor": (
        "What does a Tensor have to hold, and what can it ask its node for? For realize: which "
        "of these Tensors have work to do at all? And how do you ask for all of it in one go, "
        "so that nothing they share is done twice?",
        "One attribute, `uop`, is enough: the rest asks it. (A method under `@property` is "
        "called without brackets.) A SINK takes many sources, the nodes of all Tensors that "
        "aren't a BUFFER yet, and Tensor.run gives their values in the same order. Each of "
        "those Tensors gets a new node: a BUFFER that holds a Buffer with its values.",
        "One SINK, one run: shared nodes are computed once. And the Tensor itself stays the "
        "same object, so everybody who holds it sees that it has numbers now.",
    ),
    "Derived": (
        "Each of these is a sentence about ops that are there. Subtracting is adding something. "
        "Dividing is multiplying by something. And when are two numbers equal, if all you can "
        "ask is which is smaller?",
        "`y` may be a plain number, and a number has no methods: x.const(y) makes it a node. "
        "For the two exponentials: e to the x is 2 to some other power, and log2 differs from "
        "the natural logarithm by a factor. Which one? `math` knows, to 16 digits.",
        "e**x = 2**(x log2(e)), and ln(x) = log2(x) ln(2). Two numbers are equal if neither is "
        "smaller (NaN aside, which should equal nothing). None of this needs an op of its own, so "
        "none of it will need a row in the table of gradients, a line of C, or a circuit on a "
        "chip.",
    ),
}
