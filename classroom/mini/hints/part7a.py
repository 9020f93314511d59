"""Stage 7a: patterns, rules, and what is known about whole numbers."""

HINTS = {
    "match": (
        "What are the three kinds of pattern? For a hole, when does a node *not* fit? For a node "
        "with sources, what has to agree before you look at the sources at all?",
        "Carry a list of ways along, which begins as [found]. For each pair of sources, replace "
        "it by all the ways in which each of the old ways can be continued: match(part, source, "
        "way) gives these. If the op is COMMUTATIVE, do all that twice, and join the lists.",
        "A way that fills x too early may lead nowhere, so all of them are kept until the end. "
        "Nodes are unique, so `is` tells 1 from 1.0 where == doesn't.",
    ),
    "rewrite": (
        "A rule can fail to apply in two ways: its pattern doesn't match, or its function has "
        "nothing to say. What happens next in each case?",
        "Two loops, one in the other: over the rules, and over the ways in which a pattern "
        "matches. The function takes the dict as `replacement(**way)`. Return as soon as you have "
        "a node that's neither None nor the old one.",
        "The order of the table decides, which makes it possible to put a special case first. "
        "A rule that gives the same node back would otherwise never let the rounds end.",
    ),
    "walk": (
        "What do you need to have before a node can be rebuilt? You wrote a function in stage 4 "
        "that gives you the nodes in just that order.",
        "Keep a dict from each old node to what it has become. A rebuilt node is UOp(op, the new "
        "sources, arg); then `change` has its say. The result is what the root has become.",
        "Each node is rebuilt once, after its sources, without recursion. And since equal nodes "
        "are one object, a graph in which nothing changes comes out as the very same graph.",
    ),
    "graph_rewrite": (
        "How do you know that a round has changed nothing? You don't have to compare two graphs "
        "node by node: what's special about nodes that are equal?",
        "`new is root` says it all. Do up to MOST_ROUNDS rounds of walk with `rewrite`, and "
        "return as soon as one changes nothing. Behind the loop, raise.",
        "Rules make work for other rules, so one round isn't enough. Two rules that undo each "
        "other would never end, and a compiler that hangs is worse than one that complains.",
    ),
    "bounds": (
        "What are the bounds of x + y, if you know those of x and y? And of x * y, if x may be "
        "negative? At which of the four corners is the smallest value?",
        "CONST, RANGE and MOD are known by themselves. For the rest, `product(*map(bounds, "
        "node.src))` gives all corners, one number of each source; ALU[op] computes each; and the "
        "smallest and the largest of these are the answer.",
        "These ops rise or fall in each of their sources, as long as the others stay put, so "
        "their extremes are at corners. `%` goes up and down, so it gets a case of its own.",
    ),
    "terms": (
        "A sum of sums: if you have the terms of both sides, what are the terms of x + y? If you "
        "have those of x, what are the terms of x * 3?",
        "It's recursive. CONST: {None: value}. A product with a CONST on either side: all factors "
        "times that. ADD: both dicts, with the factors of what's in both added up; get(term, 0) "
        "helps. Everything else: {node: 1}.",
        "In this form, 4*i + j + 4*i and 8*i + j are the same dict. That's what makes them the "
        "same node when `total` builds them again.",
    ),
    "total": (
        "Three things must not show up in the sum: a product with 1, a product with 0, and a "
        "constant 0. What is left if that's everything there was?",
        "Make a list first: for each term that isn't None and whose factor isn't 0, the term or a "
        "product. Then the constant, if it isn't 0 or the list is empty. `sum` adds nodes, too; "
        "its second argument is what it starts from.",
        "If the order is always the same, equal sums are one node, and the rules can tell that "
        "nothing changes any more.",
    ),
    "divide": (
        "Take (i*12 + j) // 4, where j counts to 3. Why do you know at once that it's i*3? Two "
        "different facts are at work. Which?",
        "First fact: if the lowest and the highest x have the same quotient, so has everything in "
        "between. Second: a term whose factor is f gives f // c to the quotient, and f % c stays "
        "inside. Build both sums with `total`; if the inner one is x itself, you've gained "
        "nothing: None.",
        "x = whole*c + rest, so x // c is whole + rest // c, and x % c is rest % c, whatever sign "
        "anything has: Python rounds down. The bounds then finish what's left.",
    ),
    "fold": (
        "There are three cases, and each is nearly one line with what you have. What's t * 0 if t "
        "is infinite? So which of the three may also be used for floats?",
        "All sources CONST: ALU[op] of their args, made x.dtype again. An ADD or MUL with x.dtype "
        "int: total(rejoined(terms(x))). A CMPLT of ints whose two bounds are equal: that number.",
        "Sums of floats can't be put in a different order without changing a digit, so they're "
        "left as they were written. Whole numbers can.",
    ),
}
