"""Part 4, lazy evaluation: the exercises of its three notebooks. checks_04a.py, checks_04b.py and
checks_04c.py say what an answer has to do."""

from __future__ import annotations

from classroom.ask import predicts
from classroom.exercise import Exercise
from classroom.exercises.checks_04a import (
    count_nodes,
    dot_product,
    kernels_after_each_line,
    multiply_add,
    power,
    which_are_the_same,
)
from classroom.exercises.checks_04b import (
    any_number,
    bytes_touched,
    fewest_rows,
    kernels_of_five,
    one_less,
)
from classroom.exercises.checks_04c import (
    first_numbers_between_changes,
    kernels_while_something_waits,
    push,
    sines_once,
    swap,
    swing,
)

TITLE = "Lazy evaluation"

THE_GRAPH = (
    Exercise(
        "4.1",
        "lazy-count-nodes",
        "Count the nodes of an op",
        count_nodes,
        (
            "What would you ask each node that `tensor.uop.toposort()` gives you?",
            "Go through the nodes and count those for which `node.op is op`.",
        ),
        because="`toposort()` lists each node once, however many others use it, so a plain count "
        "over it counts nodes and not paths.",
    ),
    Exercise(
        "4.2",
        "lazy-who-asks",
        "Which lines run a kernel",
        predicts(kernels_after_each_line),
        (
            "Which of the lines can't do without the numbers?",
            "You can read shape, dtype and op off the expression. And what does `y` hold when it "
            "has been computed once?",
        ),
        shown_by="the next cell",
        because="Only line 3 needs numbers that aren't there yet. It runs one kernel, for the "
        "product and the sum together, and `y` holds the result from then on. So line 4 just "
        "reads it.",
    ),
    Exercise(
        "4.3",
        "lazy-same-node",
        "Which are the same",
        predicts(which_are_the_same),
        (
            "Two Tensors can hold the same node. When does tinyframe need a new node, and when can "
            "it use one that it already has?",
            "Compare op, dtype, sources in their order, and argument. Nobody looks at values.",
        ),
        shown_by="the next cell",
        because="`A` and `B` are two Tensors with one node, since both were built from the same op "
        "and the same sources. `b + a` has its sources in a different order, and `a * 2` is a MUL "
        "where `a + a` is an ADD. Their values agree, but nobody compares values.",
    ),
    Exercise(
        "4.4",
        "lazy-power",
        "A long product from few nodes",
        power,
        (
            "How many multiplications does `a` to the power 16 need if you may use results twice?",
            "The power n is the square of the power n // 2, times `a` if n is odd. A function that "
            "calls itself can say just that.",
        ),
        because="Each squaring doubles the exponent with one node. An odd n costs one more "
        "multiplication, so there are at most two MULs for each binary digit of n.",
    ),
    Exercise(
        "4.5",
        "lazy-multiply-add",
        "Build `a * b + a` from UOps",
        multiply_add,
        (
            "How was the node of `a * a` built in the cell above?",
            "`UOp(op, dtype, sources)`, where the sources are a tuple of UOps. Build the product "
            "first, since it is a source of the ADD.",
        ),
        because="The product is a MUL of `a` and `b`. The ADD takes the product as its first "
        "source and `a` as its second, in the order of `a * b + a`.",
    ),
    Exercise(
        "4.6",
        "lazy-dot-product",
        "Build `(a * b).sum()` from UOps",
        dot_product,
        (
            "What stands between the BUFFER and the result in the picture of `a.max()`? A dot "
            "product has the same nodes, and one more.",
            "The listing of `a.max()` shows the argument of each node. Which of them say that it's "
            "a maximum, and what would say that it's a sum? A MUL comes first.",
        ),
        because="A sum is the same as a maximum with ADD in place of MAX. REDUCE_AXIS leaves shape "
        "`(1,)`, and the RESHAPE turns it into `()`.",
    ),
)

FROM_GRAPH_TO_KERNELS = (
    Exercise(
        "4.7",
        "lazy-bytes-touched",
        "Bytes of a schedule",
        bytes_touched,
        (
            "Two loops, one inside the other: over the items, and over each item's `bufs`.",
            "A buffer's `size` counts elements; its `nbytes` counts bytes.",
        ),
        because="`nbytes` is size times bytes per element, whatever the dtype. A buffer that one "
        "kernel writes and the next one reads is touched twice, so it counts twice.",
    ),
    Exercise(
        "4.8",
        "lazy-five-counts",
        "Kernels of five expressions",
        predicts(kernels_of_five),
        (
            "For each one: does something need the complete result of a reduction?",
            "The sum of a row is done as soon as you've gone through that row. The sum of all rows "
            "is done at the very end. And how often is each element of `a @ b` needed in number 5?",
        ),
        shown_by="the next cell",
        because="Elementwise work before or after a reduction goes into its loop (1 and 4). A row "
        "sum fits into the loop over rows (2). But every quotient of number 3 needs the sum of "
        "everything, and number 5 needs each element of `a @ b` 64 times, so these have two "
        "kernels each.",
    ),
    Exercise(
        "4.9",
        "lazy-fewest-rows",
        "How many rows one kernel takes",
        fewest_rows,
        (
            "Which function counts kernels without running them? Call it in a loop.",
            "`for n in range(2, 100)`, print n and `kernels(shares(n))`. Where does it change?",
        ),
        because="There are as many row sums as rows. With 32 of them the rule sees enough "
        "independent results to keep a processor busy; with 31 it stores the sums first.",
    ),
    Exercise(
        "4.10",
        "lazy-one-less",
        "The same values with one kernel fewer",
        one_less,
        (
            "What does `why` say about the three?",
            "What's the sum of all column sums? Is there a shorter way to write it?",
        ),
        because="The sum of the column sums is the sum of everything. With `a.sum()` in the "
        "denominator, only one place needs `a.sum(axis=0)`, so it's computed there.",
    ),
    Exercise(
        "4.11",
        "lazy-any-number",
        "Exactly n kernels",
        any_number,
        (
            "Find a step that always adds one kernel to what's there.",
            "You've seen one division that needed two kernels, and six of them that needed no more "
            "than one. What would the second division have to wait for, so that it can't join the "
            "first?",
        ),
        because="The sum of a column needs every row of what came before, and the next sum, of a "
        "row, needs every column. No loop over rows (or columns) can do both, so each division is "
        "cut off from the one before.",
    ),
)

MEMORY_THAT_CHANGES = (
    Exercise(
        "4.12",
        "lazy-sines-once",
        "Each sine only once",
        sines_once,
        (
            "Which value do all three expressions need? What keeps a value in memory?",
            "One method from part 4b stores a value in the middle of an expression. After which "
            "step do you want it?",
        ),
        because="`contiguous()` asks for the waves to be stored. The first call computes and "
        "stores them, and they stay in memory as long as some expression needs them. The other two "
        "calls read them.",
    ),
    Exercise(
        "4.13",
        "lazy-old-values-and-views",
        "What was written down between two changes",
        predicts(first_numbers_between_changes),
        (
            "What did `x` hold when `first` was written down? And when `second` was? `assign` "
            "doesn't touch a graph that already exists.",
            "`x * 10` computes something new. `x[1:]` is a slice, so it looks at whatever `x` is.",
        ),
        shown_by="the next cell",
        because="`first` was written down before both changes, and `second` between them. Each "
        "keeps the values of its moment, so they start with 10 and 20. `tail` is a view and sees "
        "both changes: the 2 that it started with has become a 4.",
    ),
    Exercise(
        "4.14",
        "lazy-swap",
        "Two Tensors exchange their values",
        swap,
        (
            "After `x.assign(y)`, who still has the old values of `x`?",
            "An expression keeps the values of the moment you wrote it down. Which expression has "
            "the values of `x`, and is none of its views?",
        ),
        because="`x + 0` is a result and not a view, so it keeps what `x` held when you wrote it "
        "down. It's computed just before those numbers are overwritten.",
    ),
    Exercise(
        "4.15",
        "lazy-waiting-results",
        "What a waiting result costs",
        predicts(kernels_while_something_waits),
        (
            "Which of the four still need the old numbers after `x` has changed?",
            "A view shows the new numbers. A sum that was written down before the change has to "
            "show the old ones. When is the last moment to compute it?",
        ),
        shown_by="the next cell",
        because="In the first two cases nobody needs the old numbers, so one kernel writes the new "
        "ones in place. `x.sum()` and `x + 1` need the old numbers. So each of them is computed "
        "just before the old numbers are overwritten, and that takes a second kernel.",
    ),
    Exercise(
        "4.16",
        "lazy-push",
        "A window on the latest values",
        push,
        (
            "Which of the old values are still there afterwards, and where?",
            "`window[1:]` are the ones that stay. `assign` wants as many values as the window has, "
            "so what goes behind them? Or write into two slices: which of the two first?",
        ),
        because="Everything except the first value, and then the new one: that's the new window. "
        "tinyframe sees that element 0 is about to be overwritten by what element 1 holds, and so "
        "on, so it computes all the new values before it writes the first of them.",
    ),
    Exercise(
        "4.17",
        "lazy-swing",
        "A string that swings",
        swing,
        (
            "Three things hold values here: `now`, `before`, and what comes next. Which of them "
            "has to be written down before anything is overwritten?",
            "First an expression for the next values, from `now` and `before` as they are. Then "
            "one `assign` each. If `now` goes first, where does `before` get its values from?",
        ),
        because="`later` is a result, so it keeps the values of the moment, whatever happens to "
        "`now` and `before` afterwards. `before` has to be assigned first, while `now` still means "
        "the old values.",
    ),
)

EXERCISES = THE_GRAPH + FROM_GRAPH_TO_KERNELS + MEMORY_THAT_CHANGES
