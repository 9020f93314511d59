"""Stage 7c: other loops, same values."""

HINTS = {
    "split": (
        "Which two nodes take the place of the old counter, and what's the formula that has all "
        "of its values in the same order? Where else does the old counter stand, apart from "
        "places in memory?",
        "walk the program: the old RANGE becomes outer * size + inner. Then a REDUCE over it has "
        "that sum among its sources, which isn't a RANGE: put outer and inner there instead. "
        "simplify at the end.",
        "Every number below 12 is 4 times something below 3, plus something below 4, in exactly "
        "one way. So the same iterations happen, in the same order.",
    ),
    "upcast": (
        "After a split, what do you have to do to the inner counter so that it's gone? And how "
        "many stores are there then?",
        "`substitute` makes a copy of a STORE in which the inner counter is a CONST, say 3. Make "
        "one for each number below size, of each STORE in program.src. They are the sources of a "
        "new SINK.",
        "Equal nodes are one node, so what the copies have in common is there once, without "
        "anybody looking for it: a number that is loaded for four results is loaded once.",
    ),
    "vector": (
        "How do you find out whether element 0, 1, 2 … of a vector lie side by side? You wrote "
        "something that tells the factor of a counter in a formula.",
        "split with the kind, then look at every node that has lanes(node) and is a float. "
        "terms(place).get(inner) is the distance from one lane to the next: it has to be 1. A "
        "STORE's value is its third source.",
        "A vector instruction does one thing to elements that lie side by side. If one of these "
        "conditions fails, C would still compile, and compute something else.",
    ),
    "reorder": (
        "What decides which loop is outside? So what do you have to change, and in which nodes?",
        "linearize sorts by number. zip(numbers, sorted(numbers)) says which number each RANGE "
        "gets; build new RANGEs with the rest of their args, and `substitute` them all at once.",
        "Outer loops can be nested in any order, since no iteration needs another one's result. "
        "The values stay the same, but the memory is visited in a different order.",
    ),
}
