"""Stage 7b: from a kernel to loops, lines and C."""

HINTS = {
    "value_at": (
        "Which of the five cases did you already write in stage 3, for Arrays? In which of them "
        "does the index change on the way down, and in which does it get more counters?",
        "Movement: loops.value(source, SOURCE_INDEX[op](index, shape of the source, arg)). "
        "REDUCE_AXIS: its arg is (op, axes); a dict {axis: loops.counter(size)} makes the new "
        "index easy, and the counters that aren't ZERO are the REDUCE's loops. For PAD, `inside` "
        "may give a Python bool: ZERO + … makes a node of it.",
        "An element is known as soon as you know which elements it's made of. That was true for "
        "numbers in stage 3; now the index is a formula, and so is the answer.",
    ),
    "lower": (
        "You have value_at for one element. Which index makes it every element, and where does "
        "each value go?",
        "Loops(kernel.memory) starts. A counter for each size of kernel.value.shape makes the "
        "index; loops.value(kernel.graph, index) is what to store, and "
        "loops.element(kernel.memory, index) is where: the first two sources of the STORE.",
        "The same index stands on both sides: the element at i, j is computed, and stored at i, j. "
        "All the rest is simplification.",
    ),
    "linearize": (
        "Imagine the finished loops on paper. How many loops are open around a LOAD, if you know "
        "how many are open around what it needs? And where does everything go that needs a sum?",
        "Give each node a depth: the largest depth of its sources; a RANGE has its place in the "
        "nest, plus one. Collect what comes after the inner loops (STOREs, and what needs a "
        "REDUCE). Then write level by level: the RANGE that opens it, the nodes of that depth, "
        "and, at the level of the last outer loop, the DEFINE_REGs.",
        "A value's depth is that of the innermost counter in it, so nothing is repeated in a loop "
        "that it doesn't depend on. Sums need a place before, inside and after their loop.",
    ),
    "render": (
        "Each line either gives a piece of text that others use, or a statement, or both. Which "
        "do what? Write the C of a * 2 by hand first, line by line.",
        "A dict from node to its text, a list of statements, and a depth for indentation. Memory "
        "is data0, data1 …; a counter is i and its number; a REDUCE's text is the name of its "
        "variable. Constants have no line: c_number writes them. C[op].format(…) does the "
        "arithmetic. What isn't inlined gets a name: c_type(node) says of which type.",
        "C is the lines once more, with semicolons. All decisions were made before: which value is "
        "stored, where it's computed, and in which order.",
    ),
}
