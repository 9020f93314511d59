"""Part 6, gradients and training: the exercises of its three notebooks. checks_06a.py,
checks_06b.py and checks_06c.py say what an answer has to do."""

from __future__ import annotations

from classroom.ask import predicts
from classroom.exercise import Exercise
from classroom.exercises.checks_06a import (
    back_through_cumsum,
    counting,
    flow_by_hand,
    guilty,
    nth_derivative,
    numerical,
    safe_sqrt,
    slopes_of_multiply_add,
    straight_through,
)
from classroom.exercises.checks_06b import (
    design,
    folded,
    momentum_step,
    remembered,
    replayed_after_two_changes,
    scale,
    stuck_start,
)
from classroom.exercises.checks_06c import circle, network, next_throw, own_op

TITLE = "Gradients and training"

GRADIENTS = (
    Exercise(
        "6.1",
        "gradient-two-paths",
        "The slopes of `a * b + a`",
        predicts(slopes_of_multiply_add),
        (
            "Along how many paths does `a` reach `z`?",
            "Work out the slope along each path by itself. What do you do with the two?",
        ),
        shown_by="the next cell",
        because="`a` reaches `z` along two arrows. Through the product it contributes a slope of "
        "`b`, which is 5. Through the addition it contributes 1. Nudge `a`, and both paths "
        "move `z`, so the slopes are added: 6. Along a path you multiply, where paths meet "
        "you add, and there's nothing more to it than that.",
    ),
    Exercise(
        "6.2",
        "gradient-flow-by-hand",
        "The backward pass by hand",
        flow_by_hand,
        (
            "Go backwards. What does the row of ADD do with `grad`? And the row of SIN?",
            "What arrives at the product is `grad * (a * b).cos()`, and MUL swaps its factors. Is "
            "there a second path along which something gets to `a`?",
        ),
        because="ADD hands `grad` on twice: once to the sine, once to `a`. SIN multiplies by the "
        "cosine of its source. MUL multiplies by the other factor. What arrives at `a` on its two "
        "paths is added.",
    ),
    Exercise(
        "6.3",
        "gradient-by-counting",
        "A gradient of n, …, 2, 1",
        counting,
        (
            "`v.sum()` counts every element once. What would you add to it, so that `v[0]` counts "
            "once more than the others?",
            "`v[:2].sum()` counts the first two. Add such sums, one for each length. Or find the "
            "one Tensor method that makes all of them at once; the next exercise has its name.",
        ),
        because="The gradient of a sum is 1 for each time that an element was counted. In the "
        "running sum, `v[0]` is in all n places, and the last element only in its own.",
        seconds=60.0,  # a sum for each length is right, and takes a while
    ),
    Exercise(
        "6.4",
        "gradient-of-cumsum",
        "Back through a running sum",
        back_through_cumsum,
        (
            "In which elements of `c` does `x[1]` count? Add up the gradients of those.",
            "`cumsum` adds up from the front, and you need it from the end. Which movement turns "
            "one into the other?",
        ),
        because="`x[i]` counts in `c[i]` and in everything after it, so the gradients of these "
        "places are added: a running sum that starts at the end.",
        seconds=60.0,  # a sum for each place is right, and takes a while
    ),
    Exercise(
        "6.5",
        "gradient-numerical",
        "A gradient that is measured",
        numerical,
        (
            "For each `i`: a copy of `x` with `x[i] + eps`, one with `x[i] - eps`. What next?",
            "`nudge = np.zeros(len(x))`, then `nudge[i] = eps`. Now `f(x + nudge)` is a number, "
            "and so is `f(x - nudge)`. How far apart are the two points?",
        ),
        because="One element at a time, so that the change of the result has one cause. Up and "
        "down, so that the errors of a bent curve cancel out.",
    ),
    Exercise(
        "6.6",
        "gradient-guilty-rows",
        "Which rows are wrong?",
        guilty,
        (
            "For each suspect you need two arrays: what the table says, and what you measure. When "
            "do you call them the same?",
            "`f(Tensor(x)).sum()` has a gradient, and your examiner takes "
            "`lambda v: f(Tensor(v)).sum().item()`. `np.allclose(…, rtol=0.01)` compares the two, "
            "and is False for a `nan`.",
        ),
        because="Every suspect is measured, and the measurement knows nothing of the table. A "
        "tolerance of a percent lets rounding pass and stops a row that is 5% off. `np.allclose` "
        "never calls a `nan` close to anything.",
        seconds=60.0,
    ),
    Exercise(
        "6.7",
        "gradient-safe-sqrt",
        "A square root without nan",
        safe_sqrt,
        (
            "Where does the SQRT get an input that it shouldn't see?",
            "What could the SQRT get there instead, so that its slope is finite? A second `where` "
            "can give it that.",
        ),
        because="The inner WHERE gives the SQRT a harmless 1 where `x` isn't positive, so its "
        "slope is finite there. The outer one still picks 0, and sends a gradient of 0 back.",
    ),
    Exercise(
        "6.8",
        "gradient-nth-derivative",
        "The nth derivative",
        nth_derivative,
        (
            "What do you have to do n times, and what do you start from?",
            "Each pass of a loop replaces the function by its gradient. What should come "
            "out if `n` is 0?",
        ),
        because="A gradient is a graph of `x`, like the function that it came from. So the same "
        "line works on it again.",
    ),
    Exercise(
        "6.9",
        "gradient-straight-through",
        "A row of your own",
        straight_through,
        (
            "You saw the row of TRUNC above: it returns `(zeros(grad),)`. What should it return "
            "instead?",
            "On the way back, it should look as if TRUNC weren't there. ADD passes on what it "
            "gets, too. What would its row look like if it had one source?",
        ),
        because="TRUNC has one source, so the function returns a tuple of one gradient: the one "
        "that arrived, as if TRUNC weren't there.",
    ),
)

TRAINING = (
    Exercise(
        "6.10",
        "training-stuck-start",
        "A start that is stuck",
        stuck_start,
        (
            "If two hidden values start out the same, what's different about their gradients?",
            "Nothing is. `Tensor.full((2, hidden), …)` has the same number everywhere.",
        ),
        because="Hidden values that start as copies get the same gradient, so they take the same "
        "step, and stay copies forever. That's why networks start from random numbers: they don't "
        "have to be good, only different.",
        seconds=30.0,
    ),
    Exercise(
        "6.11",
        "training-momentum",
        "A step with momentum",
        momentum_step,
        (
            "Which of the two changes first?",
            "Which velocity moves the parameter, the one you were given or the one you just made?",
        ),
        because="The velocity takes in the new gradient first. Then the parameter moves by the new "
        "velocity, not by the gradient.",
    ),
    Exercise(
        "6.12",
        "training-optimizer-memory",
        "What an optimizer keeps",
        remembered,
        (
            "`nn.state.get_state_dict(optimizer)` is a dict of every Tensor in it. Which of those "
            "belong to the model?",
            "`optimizer.params` is the list of parameters. Add up `numel()` for both. The rest is "
            "what you want.",
        ),
        because="SGD keeps its learning rate and nothing else. Momentum adds a velocity for each "
        "parameter. Adam has two averages for each, and counts its steps.",
    ),
    Exercise(
        "6.13",
        "training-jit-two-changes",
        "What a replay notices",
        predicts(replayed_after_two_changes),
        (
            "This is the sixth call. Does it run the Python of `scaled`?",
            "Only kernels run. `weight` is memory that they read. And where is `factor`?",
        ),
        shown_by="the next cell",
        because="The kernel reads the memory of `weight`, so it sees the 3. But `factor` was 10 "
        "when the kernel was recorded, and that 10 is a constant in its code. No Python runs that "
        "could notice the 100. So it's 1 · 3 · 10, where 300 would be right, and nothing warns "
        "you.",
    ),
    Exercise(
        "6.14",
        "training-number-as-tensor",
        "A number that changes",
        scale,
        (
            "Which kind of value does a replay look up in every call?",
            "A Tensor with memory. `Tensor(3.0)` is a constant and has none; what did the error "
            "message suggest?",
        ),
        because="A replay reads the memory of the Tensors that it's given. `Tensor(number)` is a "
        "constant and has no memory; `.contiguous()` gives it some. `Tensor([number])` has memory "
        "from the start.",
    ),
    Exercise(
        "6.15",
        "training-folded-batchnorm",
        "A BatchNorm that disappears",
        folded,
        (
            "After training, BatchNorm multiplies each feature by a number and adds a number. "
            "Which ones? And what does a Linear do?",
            "A feature's scale is its `norm.weight`, divided by the root of its variance plus eps. "
            "Each row of the Linear's weight is multiplied by its scale. What happens to "
            "`linear.bias`, from which the running mean is subtracted first?",
        ),
        because="A Linear computes `x @ weight.T + bias`. BatchNorm then multiplies each feature "
        "by one number and adds another, so you can do both to the weight and the bias instead, "
        "once and for all.",
    ),
    Exercise(
        "6.16",
        "training-budget-600",
        "Six hundred numbers",
        design,
        (
            "A filter's weights are used at every place of the image. How many numbers does a "
            "`Conv2d(1, 8, 3)` have, and how many values come out of it for an image of 8 × 8?",
            "Reshape to (n, 1, 8, 8) first. After a few filters, a BatchNorm, relu and "
            "`max_pool2d`, how many values are left for the `Linear`? It costs the most. Which "
            "size of filter leaves fewer?",
        ),
        because="Eight filters of 5 × 5 cost 208 numbers, and each is used at 16 places of an "
        "image. Pooling leaves 32 values, and a `Linear` of 330 numbers reads the digit from them. "
        "BatchNorm costs 16, and makes the rest learn better.",
        seconds=90.0,
    ),
)

TRIUMPHS = (
    Exercise(
        "6.17",
        "triumph-newton-throw",
        "The next throw",
        next_throw,
        (
            "`x.sum().gradient(vx, vy)` is how fast x changes with vx, and with vy. Together with "
            "those of y you have four slopes. Which two equations do they make?",
            "`np.linalg.solve([[dx_dvx, dx_dvy], [dy_dvx, dy_dvy]], [miss_x, miss_y])` says how "
            "far the throw is off. Ask for gradients before you call `.numpy()` on x and y.",
        ),
        because="If the flight were a straight function of the throw, the four slopes would say "
        "exactly how far the throw is off, in both directions. It isn't straight, so you throw "
        "again; but each throw starts much closer, where it's straighter.",
        seconds=60.0,
    ),
    Exercise(
        "6.18",
        "triumph-circles",
        "The circle that fits",
        circle,
        (
            "Which two gradients do you need, and what is the second one the gradient of?",
            "`(slope,) = f(x).sum().gradient(x)`, and the same line again for `slope`. Only then "
            "turn them into arrays with `.numpy()`, and write the three formulas.",
        ),
        because="The slope is a graph of `x`, so `gradient` takes it like any other. Calling "
        "`.numpy()` too early would replace that graph by its numbers.",
    ),
    Exercise(
        "6.19",
        "triumph-cnn",
        "A network that sees",
        network,
        (
            "Filters first: which shape does `conv2d` want, and which shape comes out of 8 × 8 "
            "with a filter of 3 × 3?",
            "To keep the largest of each 2 × 2: `x.reshape(n, filters, 3, 2, 3, 2).max(3, 5)`. "
            "Then reshape to (n, 9 * filters), and multiply by a matrix of (9 * filters, 10). "
            "Twelve filters are enough, if the random numbers start small: divide those of the "
            "matrix by 10.",
        ),
        because="Twelve filters look at every place of the image, the largest of each 2 × 2 says "
        "whether something was there, and a matrix turns that into ten scores.",
        seconds=300.0,
    ),
    Exercise(
        "6.20",
        "triumph-own-op",
        "An op of your own",
        own_op,
        (
            "Which function do you know the derivative of? Write it with NumPy first, and leave "
            "the row for later.",
            "For tanh, the derivative is 1 minus the square of the result, and `node` is the "
            "result. For arctan it's 1 / (1 + x²).",
        ),
        because="An op is a row in two tables. The examiner never looks at either of them: it only "
        "nudges the input and sees what comes out.",
    ),
)

EXERCISES = (*GRADIENTS, *TRAINING, *TRIUMPHS)
