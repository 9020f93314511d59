"""Project 2: Three kinds of op. Find them in graphs, follow them to memory, and build with them.

You will write ten functions. Each one says what it is given and what it should return; replace the
`...` with your code. Nothing else needs to change, and you may add functions of your own.

    python projects/02_op_types.py                       runs everything and prints a report
    python -m classroom grade projects/02_op_types.py    100 points, and a hint for each miss

Run the file as often as you like: a task you have not written yet is simply called open. You need
parts 1 to 5 of the course, and about four hours. What a solved task prints is worth a look: the
last one finds its way out of a maze, without a search.

Wherever a list is asked for, a tuple is fine too, and the other way round. An integer is 3, and
not 3.0.
"""

import numpy as np

from classroom import use_mini
from tinyframe import GlobalCounters, Tensor
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

use_mini(5)  # for the last two tasks: your own where its checks pass, else ours

from mini.part5 import Tensor as Mini


def kernel_of(tensor):
    """The graph of the last kernel that `tensor` takes: LOAD, STORE, INDEX, RANGE, REDUCE and
    elementwise nodes. Nothing runs, and nothing has been optimized yet."""
    return tensor.schedule()[-1].ast


# ---- three kinds of op ---------------------------------------------------------------------------


def kinds_of(tensor):
    """Task 1 (6 points). How many nodes of each kind are in the graph of a Tensor: a dict with the
    keys "elementwise", "reduction" and "movement".

    kinds_of((a + b).sum()), with a and b of shape (2, 3), is {"elementwise": 1, "reduction": 1,
    "movement": 3}: there is a RESHAPE after each of the two buffers, and one after the sum.
    """
    ...


def kinds_in_kernel(kernel):
    """Task 2 (12 points). What became of the three kinds in a kernel: a dict with the same keys.

    "movement"     the elementwise nodes that compute places: an INDEX depends on them, directly or
                   through other nodes
    "elementwise"  all other elementwise nodes: they compute values
    "reduction"    the REDUCE nodes

    kernel: the graph of a kernel, as kernel_of(tensor) returns it.
    For (x.flip(0) * 5).sum(axis=1), with x of shape (3, 4), it is {"elementwise": 1,
    "reduction": 1, "movement": 2}. The elementwise node is the multiplication by 5. All that's left
    of the flip is that row i is read from row 2 - i, which takes two nodes: i * -1 + 2.
    """
    ...


# ---- loops ---------------------------------------------------------------------------------------


def loops_of(kernel):
    """Task 3 (8 points). The loops of a kernel: a list of (size, kind). The kind is "loop" if each
    iteration has a result of its own, and "reduce" if all of them together make one.

    kernel: the graph of a kernel. Each RANGE in it is a loop. Its source is its size, a CONST; its
    arg is its number and an AxisType. List the loops in the order of their numbers.
    For x.sum(axis=0), with x of shape (3, 4), it is [(4, "loop"), (3, "reduce")].
    """
    ...


def loops_of_sum(shape, axes):
    """Task 4 (12 points). Predict the loops of x.sum(axes): a list of (size, kind, step). The
    step of a loop is how many cells further on the kernel reads x when this loop advances by one
    and all others stand still.

    shape: the shape of x, which is in memory row by row. All sizes are 2 or more.
    axes: the axes to add up, in ascending order. At least one axis is left.
    Loops of kind "loop" come first, then those of kind "reduce", each in the order of their axes.
    loops_of_sum([3, 4], [0]) is [(4, "loop", 1), (3, "reduce", 4)]: the kernel goes down the first
    column in steps of 4 cells, then down the second one, and so on.
    """
    ...


# ---- cells ---------------------------------------------------------------------------------------

# From here on, a view is a dict. {"shape": [3, 4], "strides": [4, 1], "offset": 0} shows cells 0 to
# 11 of some memory as three rows of four. The stride of an axis says how many cells further on its
# next element is, and the offset is the cell of the first element.


def cell(view, index):
    """Task 5 (4 points). The number of the cell that one element of a view is in.

    index: the element's place in the view, one number for each axis.
    In the view above, the element at [1, 2] is in cell 6.
    """
    ...


def moved(view, name, argument):
    """Task 6 (12 points). A view after one movement: a new view of the same memory.

    name, and what its argument is:

    "permute"  the axes in their new order, such as [1, 0]
    "flip"     the axes to reverse, such as [0]
    "shrink"   for each axis where to begin and where to stop, such as [[1, 3], [0, 4]]
    "expand"   the new shape; only axes of size 1 become larger
    "unfold"   [axis, size, step]: all windows of that size along an axis, each of them `step`
               elements after the one before. The axis now counts the windows that fit, and a
               new last axis, of that size, goes through a window

    moved({"shape": [3, 4], "strides": [4, 1], "offset": 0}, "permute", [1, 0]) is
    {"shape": [4, 3], "strides": [1, 4], "offset": 0}. You will also get views with strides that are
    0 or negative, and views that begin in the middle of memory. Leave the view you get unchanged.
    """
    ...


def reshaped(view, shape):
    """Task 7 (12 points). A view after a reshape: a new view of the same memory if strides can
    describe it. If they can't, the text "copy", because a library that only has strides would have
    to copy the numbers.

    shape: the new shape, with as many elements as the view has. A reshape keeps the elements in
    order, row by row.
    For the view of shape [3, 4] above, reshaped(view, [2, 6]) has strides [6, 1]. For that view
    transposed, reshaped(view, [12]) is "copy": cells 0, 4, 8, 1, 5, ... are not evenly spaced.
    """
    ...


# ---- kernels -------------------------------------------------------------------------------------


def predicted_kernels(steps, n):
    """Task 8 (14 points). How many kernels it takes to realize an expression.

    It begins with t, a matrix of shape (n, n) in memory, and each step makes a new t out of the old
    one. (w is a different matrix of that shape, also in memory.)

    "transpose"  t.permute(1, 0)
    "flip"       t.flip(0)
    "exp"        t.exp()
    "product"    t @ w
    "store"      t.contiguous()
    "share"      t / t.sum(axis=1, keepdim=True)   only if n is 32 or more
    "sums"       t.sum(axis=1)                     only as the last step, and never after a share

    Each value that is stored in memory takes one kernel. The result is stored, and so is whatever
    "store" asks for, and whatever has to be complete before the next step. You know the reasons
    from part 4b:

    - A movement by itself stores nothing, not even as the last step. A "store" after it does. A
      "store" of what is stored already takes no kernel.
    - A product uses each element n times. Exponentials, shares and other products are too expensive
      to be computed that often, so t is stored first if one of these in it isn't stored yet.
    - A share uses each element twice. That's fine for an exponential; a product is stored first.
    - Any number of shares of the same rows fit into one loop over the rows. Shares of the rows and
      shares of the columns don't: each column needs all of the rows.
    - If n is 32 or more, sums need a product before them stored. If n is smaller, a product and its
      sums are one kernel.

    predicted_kernels(["exp", "product"], 64) is 2. Work it out from the steps: you'll also be asked
    about matrices that are too large for any memory. (Scheduling the same steps on a smaller matrix
    is a way to check yourself. If you find out how small it can be, that's an answer, too.) You
    won't get "transpose" or "flip" twice in a row, nor a "flip" together with a "share".
    """
    ...


# ---- in your own framework -----------------------------------------------------------------------

# The last two tasks are written with mini, the framework that you are building. A `Mini` is its
# Tensor, with the methods of mini/part4.py and mini/part5.py: reshape, permute, expand, shrink,
# pad, sum, maximum, and so on. They take sizes and axes one by one, as in x.sum(0, 2). At home this
# runs on your own mini where its checks pass. The grader lends you ours.


def einsum(formula, *tensors):
    """Task 9 (10 points). Products and sums of any number of Tensors, from a formula that names
    their axes with letters: a Mini.

    "ij,jk->ik" is the matrix product. Before the arrow, each Tensor has a letter for each axis. The
    same letter in two of them means the same axis, where numbers meet and are multiplied. After
    the arrow come the axes of the result, in their order. Every letter that isn't among them is
    added up. So "ij->ji" is a transpose, "ij->" the sum of everything, and "i,j->ij" a
    multiplication table.

    You have written one matrix product after another. This one function is all of them, and
    numpy.einsum can tell you whether it's right. No letter comes twice in the same Tensor. Use
    movement, multiplications and sums, and return the graph, not computed.
    """
    ...


def distances(maze, start, steps):
    """Task 10 (10 points). How many steps it is from the start to every cell of a maze: a Mini.

    maze: a Mini of shape (height, width), 1.0 where you can walk and 0.0 where there is a wall.
    start: a Mini of the same shape, 1.0 where you stand and 0.0 everywhere else. A step goes up,
    down, left or right. The result has the shape of the maze: 0 at the start, 1 beside it, and
    steps + 1 wherever you can't be after that many steps, which includes the walls.

    Nobody walks here, and nobody asks a single cell anything: all cells take the step at once, as
    water would. Use movement, arithmetic and maximum, and return the graph, not computed. The
    grader builds it for one maze and runs it on others.
    """
    ...


# ---- run everything ------------------------------------------------------------------------------


def is_open(answer):
    """Whether a task has no answer yet."""
    return answer is None or answer is ...


def show(title, answer, look=lambda answer: answer):
    """Print an answer, or that there is none yet."""
    print(f"   {title:38} {'open' if is_open(answer) else look(answer)}")


def side_by_side(parts):
    """Parts in columns: "1 elementwise   1 reduction   5 movement"."""
    return "".join(f"{part:18}" for part in parts).rstrip()


def show_kinds_and_loops():
    """Of four expressions of x, of shape (48, 64), and w, of shape (64, 32)."""
    x, w = Tensor.rand(48, 64).realize(), Tensor.rand(64, 32).realize()
    expressions = {
        "(x.flip(0) * 5).sum(axis=1)": lambda: (x.flip(0) * 5).sum(axis=1),
        "x.permute(1, 0).reshape(96, 32).exp()": lambda: x.permute(1, 0).reshape(96, 32).exp(),
        "x.softmax(axis=1)": lambda: x.softmax(axis=1),
        "x @ w": lambda: x @ w,
    }
    print("1. Three kinds of op: nodes in the graph")
    for text, build in expressions.items():
        kinds = kinds_of(build())
        show(text, kinds, lambda kinds: side_by_side(f"{n} {kind}" for kind, n in kinds.items()))
    print("\n2. What became of them in the kernel")
    for text, build in expressions.items():
        kinds = kinds_in_kernel(kernel_of(build()))
        show(text, kinds, lambda kinds: side_by_side(f"{n} {kind}" for kind, n in kinds.items()))
    print("\n3. The loops of the same kernels")
    for text, build in expressions.items():
        loops = loops_of(kernel_of(build()))
        show(text, loops, lambda loops: side_by_side(f"{kind} {size}" for size, kind in loops))
    print("\n4. The loops of a sum, predicted: how often each runs, and its step in memory")
    for axes in ([0], [1]):
        loops = loops_of_sum([48, 64], axes)
        show(
            f"x.sum({axes})",
            loops,
            lambda loops: side_by_side(f"{kind} {size}, by {step}" for size, kind, step in loops),
        )


GRID = {"shape": [3, 4], "strides": [4, 1], "offset": 0}


def show_views():
    print("\n5. Cells: three rows of four")
    show("the cell of [1, 2]", cell(GRID, [1, 2]))
    print("\n6. Movements, one after another")
    view = GRID
    for name, argument in (
        ("permute", [1, 0]),
        ("flip", [0]),
        ("shrink", [[0, 4], [1, 2]]),
        ("expand", [4, 3]),
    ):
        view = moved(view, name, argument)
        show(f"{name} {argument}", view, strides_and_cells)
        if is_open(view):
            break
    print("\n7. Reshapes: of the rows, and of the columns")
    columns = {"shape": [4, 3], "strides": [1, 4], "offset": 0}
    for name, view in (("rows", GRID), ("columns", columns)):
        for shape in ([12], [2, 2, 3]):
            show(f"{name} as {shape}", reshaped(view, shape), strides_and_cells)


def strides_and_cells(view):
    """A view in one line: its strides and its first cells, or that it is a copy."""
    if view == "copy":
        return "copy"
    cells = [cell(view, index) for index in np.ndindex(*view["shape"])][:8]
    return f"strides {view['strides']!s:12}cells {cells}"


def show_predictions():
    print("\n8. Kernels, predicted and counted")
    print("   The first is (x.permute(1, 0) @ y.reshape(4, 4)).sum(axis=1).")
    for n, *steps in (
        (4, "transpose", "product", "sums"),
        (64, "transpose", "product", "sums"),
        (64, "transpose", "flip"),
        (64, "exp", "share"),
        (64, "exp", "product", "exp"),
        (64, "share", "transpose", "share"),
    ):
        text, counted = f"{n} x {n}: {', '.join(steps)}", kernels_run(built(steps, n))
        found = predicted_kernels(steps, n)
        show(
            text,
            found,
            lambda _, found=found, counted=counted: side_by_side(
                (f"predicted {found}", f"counted {counted}")
            ),
        )


def built(steps, n):
    """The expression that task 8 is about."""
    t, w = Tensor.rand(n, n).realize(), Tensor.rand(n * n).realize().reshape(n, n)
    made_by = {
        "transpose": lambda t: t.permute(1, 0),
        "flip": lambda t: t.flip(0),
        "exp": lambda t: t.exp(),
        "product": lambda t: t @ w,
        "store": lambda t: t.contiguous(),
        "share": lambda t: t / t.sum(axis=1, keepdim=True),
        "sums": lambda t: t.sum(axis=1),
    }
    for step in steps:
        t = made_by[step](t)
    return t


def kernels_run(tensor):
    """How many kernels run when a Tensor is realized."""
    GlobalCounters.reset()
    tensor.realize()
    return GlobalCounters.kernel_count


FORMULAS = ("ij,jk->ik", "ij->ji", "ij->", "ij,kj->ik", "ij,jk,kl->il")


def show_einsum():
    print("\n9. Einsum, in mini: the same as NumPy's?")
    rng = np.random.default_rng(0)
    for formula in FORMULAS:
        arrays = [rng.random((4, 4), np.float32) for _ in formula.split("->")[0].split(",")]
        found, wanted = einsum(formula, *map(Mini, arrays)), np.einsum(formula, *arrays)
        show(formula, found, lambda found, wanted=wanted: compared(found, wanted))


def compared(found, wanted):
    same = found.shape == wanted.shape and np.allclose(found.numpy(), wanted, rtol=1e-4)
    return f"{'yes' if same else 'no'}, of shape {wanted.shape}"


MAZE = """
###############################
#S#           #       #       #
# # ##### ### # ##### # ##### #
# #     # # #   # #   #   #   #
# ####### # ##### # ##### # ###
#   #     #       #   #   #   #
### # ##### ######### ####### #
# #   #   #         # #     # #
# ##### # # ####### # # ### # #
#                 #     #    E#
###############################
"""


def show_maze():
    print("\n10. The way out, in mini")
    lines = MAZE.split("\n")[1:-1]
    cells = np.array([list(line) for line in lines])
    maze, start = (Mini(part.astype(np.float32)) for part in (cells != "#", cells == "S"))
    found = distances(maze, start, cells.size // 2)
    if is_open(found):
        return show("distances", found)
    far = found.numpy()
    place = tuple(map(int, np.argwhere(cells == "E")[0]))
    print(f"   E is {far[place]:.0f} steps from S")
    while far[place] > 1:
        y, x = place
        place = min(((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)), key=lambda cell: far[cell])
        cells[place] = "."
    print("\n".join("   " + "".join(line) for line in cells))


def main():
    show_kinds_and_loops()
    show_views()
    show_predictions()
    show_einsum()
    show_maze()


if __name__ == "__main__":
    main()
