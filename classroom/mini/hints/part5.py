"""Stage 5: where to read, how shapes meet, and what comes of that."""

HINTS = {
    "moved_shape": (
        "Seven ops, and hardly any arithmetic: which of them keep the shape, which are handed "
        "the new one, and which three have to work it out?",
        "PERMUTE picks sizes, SHRINK subtracts, PAD adds. `zip` walks through sizes and widths "
        "side by side. A chain of `if`s is fine, and so is a dict of little functions.",
        "Each op's arg says all there is to know about the result's shape, so no value is "
        "needed. That is why a shape is known before anything is computed.",
    ),
    "reshape_index": (
        "A reshape moves nothing in memory. So what do an element of the result and its element "
        "of the source have in common?",
        "Their place, if all rows are written one after another. You have a function from an "
        "index to a place, and one back. Which shape goes with which?",
        "The index belongs to the new shape, so its place is counted there. Then the old shape "
        "says which index is at that place.",
    ),
    "permute_index": (
        "Axis k of the result is axis order[k] of the source. The index comes sorted by axes of "
        "the result, and you need it sorted by axes of the source. For source axis 0, which k "
        "is it?",
        "You need the permutation that undoes `order`. For each axis of the source, look for "
        "where `order` mentions it. Tuples have a method that finds things.",
        "For a given source axis, order.index(axis) is the axis of the result that shows it, "
        "and that's whose part of the index you need. It is the inverse of `order`.",
    ),
    "expand_index": (
        "If an axis of the source has one element, which is the only index along it that you "
        "may read? And along all other axes?",
        "Go through the index and the source's shape side by side. Each part is one of two "
        "things, and the size decides. That `if` is allowed: a size is always a plain number, "
        "only the index may be something else.",
        "An axis of size 1 is read at 0 over and over again. So a row becomes a table of a "
        "million equal rows, for nothing.",
    ),
    "shrink_index": (
        "Result element 0 along an axis: which element of the source is it?",
        "Everything is shifted by where the kept piece starts. Where it ends makes no "
        "difference to the index.",
        "Element 0 of the result is element `start` of the source, and the rest follows. The "
        "end matters for the shape only.",
    ),
    "flip_index": (
        "A row of 4, back to front. Element 0 of the result is which element of the source? And "
        "element 3?",
        "The two indices always add up to the same number, one less than the size. Only the "
        "axes in `axes` are treated like that; `enumerate` counts the axes for you.",
        "Index and mirrored index add up to size - 1, the last index that there is.",
    ),
    "inside": (
        "Along one axis: `before` zeros, then `size` elements, then `after` zeros. Between "
        'which two indices do the elements lie? How do you say "and" if there is no `and`?',
        "Two comparisons for each axis, and all of them have to hold. True counts as 1 and "
        "False as 0, in Python, in NumPy and in a graph. What does `*` do with those?",
        'A product of 0s and 1s is 1 only if all of them are: an "and" that works for numbers, '
        "arrays and nodes. The comparisons are written with `<` alone, as nodes have no `<=`.",
    ),
    "pad_index": (
        "For an index inside, where in the source is it? For one outside there is nothing to "
        "read, but something *will* be read there. What is always safe?",
        "You wrote the condition above, and `where` chooses between two things, also for arrays "
        "and nodes. Whether an index is inside depends on all axes, so ask once, and use the "
        "answer for each axis.",
        "Outside, element 0 is read and thrown away: NumPy would take -1 for the last element, "
        "and C would read whatever lies beside the memory.",
    ),
    "expand": (
        "Axis by axis: from which old size may an axis go to which new one? Two cases are fine.",
        "The number of axes has to be the same, and each size either stays or was 1. If any "
        "axis breaks that, raise ValueError. What's fine becomes an EXPAND node with the new "
        "shape as its arg.",
        "Element 0 can be read as often as you like, so 1 may become anything. From 3 to 6 "
        "there is no saying what should be read, so that's refused, with both shapes in the "
        "message.",
    ),
    "broadcast": (
        "Shapes (3, 1) and (4,). Write them under each other, flush right. What does the "
        "shorter one lack, and what happens to the 1s?",
        "Two steps. First give every node the same number of axes (a reshape, with 1s in "
        "front). Then, for each axis, the largest size wins, and everybody is expanded to that. "
        "Constants have the shape () and fit anything, so they can be left alone. A node that "
        "has the shape already stays as it is; `reshape` and `expand` see to that.",
        "After the reshape all shapes are equally long, so `zip` lines the axes up, and `max` "
        "finds the size that wins. If two sizes differ and neither is 1, `expand` complains.",
    ),
    "reduce": (
        "The op leaves axes of size 1 behind. When is that wrong, and what can you do to a size "
        "of 1 without moving a single number?",
        "First make the axes honest: none given means all of them, and -1 is the last one (`%` "
        "turns -1 into it). Then build the REDUCE_AXIS node with (op, axes) as its arg. Then, "
        "unless they are to stay, reshape the 1s away.",
        "Axes become numbers from 0 up, in order, so the same reduction is the same node "
        "however it was asked for. Dropping an axis of size 1 is a reshape, and costs nothing.",
    ),
    "mean": (
        "A mean is a sum divided by a number of elements. Which number? Not always all of them.",
        "The elements of x, shared out among the elements of the sum: the product of one shape, "
        "divided by that of the other. You needn't look at the axes at all.",
        "Each element of the sum adds up as many elements as there are in x per element of the "
        "result. So negative axes, several, and none are right without a thought.",
    ),
    "__matmul__": (
        "Element [i, j] of the product is a sum over k of a[i, k] * b[k, j]. So you want one "
        "table with three axes, i, j and k, and a sum. What shape does `a` need so that it "
        "fits?",
        "`a` needs an axis of size 1 where j goes, `b` one where i goes. `*` broadcasts the "
        "two. Mind the order of the axes of `b`: if you want k last, you have to permute, and "
        "not reshape.",
        "All n * m * k products are one elementwise `*`, and the sum over k does the rest. "
        "That's all a matrix product is: movement, one multiplication, one sum.",
    ),
    "windows": (
        "Row j of the result is the row you have, starting j later. So you want `size` copies, "
        "each shifted by one more. You could shrink, j after j, and put the pieces together "
        "again. Or there is a trick without pieces. What shifts when you cut an endless row a "
        "bit too late?",
        "Write the row 0 1 2 3 three times in a line, 0 1 2 3 0 1 2 3 0 1 2 3, and cut that "
        "into rows of 5, one longer than the row was. Look at how they begin. Repeating is "
        "reshape, expand, reshape; cutting is shrink, reshape; and the columns at the end are "
        "too many.",
        "Each row of n + 1 begins one element later than the one above it, because the copies "
        "are n long. Nothing is computed: five movements and no arithmetic.",
    ),
    "conv2d": (
        "`windows` slides along the last axis. How do you make it slide along the height as "
        "well? And what are all the axes called after that? Write them down, really.",
        "Windows along the width, then permute the height to the end, then windows again. You "
        "have axes for batch, channels, two for where the window is, two for where you are "
        "inside it. Give the images an axis of size 1 for the filters, give the weights one "
        "wherever they lack something, multiply, and sum over everything the result doesn't "
        "have.",
        "Each product of a pixel and a weight sits at its own index, batch, filter, channel, i, "
        "j, row and column. The sum over channel, i and j is the convolution. Any other route "
        "to the same numbers is as right.",
    ),
    "log_softmax": (
        "Softmax is exp(x) divided by the sum of all exp(x). What is the logarithm of a "
        "quotient? And why do you get `inf` for 1000?",
        "Shifting a whole row by a number changes nothing about its softmax, so shift it by the "
        "largest element: the biggest exponent is 0 then. `max` and `sum` take keepdim=True, "
        "which makes the shapes fit. And the shift has no gradient: x.detach().",
        "log(exp(x) / s) = x - log(s), so no quotient is ever computed. With the largest "
        "element subtracted, every exp is at most 1 and their sum at least 1: nothing "
        "overflows, and no logarithm of 0.",
    ),
}
