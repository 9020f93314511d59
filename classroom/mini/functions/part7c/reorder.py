"""Hint: What decides which loop is outside? So what do you have to change, and in which nodes?
Hint: linearize sorts by number. zip(numbers, sorted(numbers)) says which number each RANGE gets;
build new RANGEs with the rest of their args, and `substitute` them all at once.
Because: Outer loops can be nested in any order, since no iteration needs another one's result.
The values stay the same, but the memory is visited in a different order.
"""

from classroom.mini.check import Wrong, promise, wrong_if
from classroom.mini.functions.part7c.shared import Case, sizes


@promise("The first number is the outermost loop")
def reordered(mini) -> None:
    case = Case(mini, "a @ b")
    for numbers, wanted in (((1, 0), [16, 12]), ((0, 1), [12, 16])):
        call = f"reorder(a @ b, {numbers[0]}, {numbers[1]})"
        program = mini.reorder(case.program, *numbers)
        case.expect(call, program)
        opened = [node.arg[1] for node in mini.linearize(program) if node.op is mini.Ops.RANGE]
        if opened[:2] != wanted:
            raise Wrong(f"The outer loops should have the sizes {wanted}, the outermost first.",
                        call, str(wanted), str(opened[:2]))  # fmt: skip


@promise("Three loops in any order, and the rest stays where it is", needs=("split",))
def reordered_three(mini) -> None:
    case = Case(mini, "a * 2")
    program, inner = mini.split(case.program, 0, 4)
    names = sizes(mini, program)
    for numbers in ((2, 0, 1), (1, 2, 0), (2, 1, 0)):
        call = f"reorder(a * 2 with its rows split, {', '.join(map(str, numbers))})"
        got = mini.reorder(program, *numbers)
        case.expect(call, got)
        opened = [node.arg[1] for node in mini.linearize(got) if node.op is mini.Ops.RANGE]
        wanted = [names[number] for number in numbers]
        if opened != wanted:
            raise Wrong(f"The loops should have the sizes {wanted}, the outermost first.", call,
                        str(wanted), str(opened))  # fmt: skip
    square, _ = mini.split(Case(mini, "a @ b").program, 1, 4)
    Case(mini, "a @ b").expect("reorder(a @ b with a loop of 16 split into 4 and 4, 3, 1)",
                               mini.reorder(square, 3, 1))  # fmt: skip
    swapped = mini.reorder(program, 2, 0)
    if sorted(sizes(mini, swapped)) != [0, 1, 2]:
        text = "Loops 2 and 0 trade places, and loop 1 keeps its number. Now two have the same one."
        call = "reorder(a * 2 with its rows split, 2, 0)"
        raise Wrong(text, call, "0, 1 and 2", ", ".join(map(str, sizes(mini, swapped))))
    opened = [node.arg[1] for node in mini.linearize(swapped) if node.op is mini.Ops.RANGE]
    wrong_if(opened != [4, 8, 3], "Loops 2 and 0 trade places, and loop 1 stays between them.",
             "reorder(a * 2 with its rows split, 2, 0)", "[4, 8, 3]", str(opened))  # fmt: skip
    case.expect("reorder(a * 2 with its rows split, 2, 0)", swapped)

# %% wrong: one after the other: two loops of one size become one
def reorder(program, *numbers):
    ranges = counters(program)
    for new, old in zip(sorted(numbers), numbers):
        moved = UOp(Ops.RANGE, (), (new, *ranges[old].arg[1:]))
        program = substitute(program, {ranges[old]: moved})
    return program

# %% wrong: says should give a program
def reorder(program, *numbers):
    return None

# %% wrong: says the outermost first
def reorder(program, *numbers):
    return program

# %% wrong, changed: says the outermost first
# -     new = dict(zip(numbers, sorted(numbers), strict=True))
# +     new = dict(zip(sorted(numbers), numbers, strict=True))

# %% wrong, changed: says trade places
# -     new = dict(zip(numbers, sorted(numbers), strict=True))
# +     new = {number: place for place, number in enumerate(numbers)}

# %% wrong, changed: says never stored
# -         node: UOp(Ops.RANGE, (), (new[number], *node.arg[1:]))
# +         node: UOp(Ops.RANGE, (), (new[number], 4))

# %% wrong: says loop 1 stays between them
def reorder(program, *numbers):
    order = [*numbers, *(number for number in counters(program) if number not in numbers)]
    return substitute(program, {
        node: UOp(Ops.RANGE, (), (order.index(number), *node.arg[1:]))
        for number, node in counters(program).items()
    })

# %% right
def reorder(program, *numbers):
    order = sorted(numbers)
    def change(node):
        if node.op is Ops.RANGE and node.arg[0] in numbers:
            place = order[list(numbers).index(node.arg[0])]
            return UOp(Ops.RANGE, (), (place,) + node.arg[1:])
        return node
    return walk(program, change)
