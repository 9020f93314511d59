"""Stage 6: what flows back through each op, the way from the loss to the weights, and learning."""

HINTS = {
    "mul_gradient": (
        "Make x bigger by a tiny bit. By how much does x * y change? And what does `grad` do here?",
        "x * y changes by y times that bit. `grad` says how much the loss cares about that "
        "change, so it is multiplied on. Then the same with the parts exchanged.",
        "The derivative of x * y with respect to x is y, and the other way round; the chain "
        "rule multiplies each by `grad`.",
    ),
    "max_gradient": (
        'Only the larger one had any say in the result. How do you write "1 where x is larger '
        'and 0 elsewhere" with `<`? What is that at a tie?',
        "(y < x) is such a mask. Where the two are equal, both masks are 0, and nobody would "
        "get anything. x.eq(y) is a mask too, and half of it for each makes the sum right.",
        "The two masks and the tie add up to 1 everywhere, so what comes in goes out, whoever "
        "is larger.",
    ),
    "recip_gradient": (
        "1/x falls when x grows, and it falls more slowly the larger x is. Which formula says "
        "that? And do you have to divide at all, given what `node` is?",
        "The derivative of 1/x is -1/x², and 1/x is right there: it is `node`.",
        "-1/x² is minus `node` times `node`. Using `node` again saves a division, and it has "
        "been computed anyway.",
    ),
    "sqrt_gradient": (
        "The root of x is x to the power of one half. What does the rule for powers say? And "
        "where in it does the root itself come back?",
        "The derivative is one over twice the root, and `node` is the root.",
        "d/dx sqrt(x) = 1 / (2 sqrt(x)). At 0 that is infinite: the curve is vertical there.",
    ),
    "exp2_gradient": (
        "e**x is its own derivative. 2**x isn't quite: write it as e to some power, and what "
        "does the chain rule leave in front?",
        "2**x is e**(x ln 2), so a factor of ln 2 comes out. Take it from `math`, and not from "
        "memory: three digits are enough for nobody. `node` is 2**x.",
        "d/dx 2**x = 2**x ln 2. A rounded ln 2 would be wrong in every exp, sigmoid and softmax "
        "that you ever differentiate.",
    ),
    "log2_gradient": (
        "The derivative of the natural logarithm is 1/x. By what factor is the logarithm to "
        "base 2 larger?",
        "log2(x) is ln(x) / ln(2). The natural logarithm of 2 is in `math`.",
        "d/dx log2(x) = 1 / (x ln 2).",
    ),
    "where_gradient": (
        "One of the two was chosen, element by element. Who should get `grad`, and what does "
        "the other one get? And can a condition be nudged?",
        "The same condition that chose the value chooses the gradient: `where` once more, with "
        "0 for the one that lost. The condition is 0 or 1, with nothing in between, so it gets "
        "None.",
        "The gradient goes back the way the value came. A tiny change of a condition changes "
        "nothing, except where it changes everything, and there no derivative helps.",
    ),
    "reshape_gradient": (
        "A reshape moves nothing. So what has to happen to the gradient, apart from its shape?",
        "Nothing else. Which shape does the source want? A star hands a tuple over size by size.",
        "Each element is still the same element, it only goes by a different index.",
    ),
    "permute_gradient": (
        "The gradient arrives with its axes permuted by node.arg. What do you do to get them "
        "back? Try it with (2, 0, 1): permuting by it once more won't do.",
        "You need the permutation that undoes it: for each axis of the source, where node.arg "
        "mentions it. You have solved this before, in permute_index.",
        "It is the inverse permutation, the same as in the rule of stage 5. For a swap of two "
        "axes nobody notices the difference, which is why three are checked.",
    ),
    "expand_gradient": (
        "An element was read three times. Each reading brings a gradient back. What do you do "
        "with three of them?",
        "Add them up, along exactly those axes that were stretched: where the size of the "
        "source and the size of the node differ. The axis has to stay, with size 1.",
        "What forks on the way down is added on the way back. Reading many times and summing "
        "are each other's gradient.",
    ),
    "shrink_gradient": (
        "What was cut off had no influence on the loss. What is its gradient? Which op puts "
        "that much around something?",
        "Pad with zeros: as many as were cut off in front, and as many as were cut off behind. "
        "node.arg says where the kept piece starts and where it ends; the size of x says the "
        "rest.",
        "In front, `start` elements were cut off, and behind, size - end. Cutting and padding "
        "are each other's gradient.",
    ),
    "pad_gradient": (
        "The zeros around aren't x's. Which part of the gradient is?",
        "Cut it out again: along each axis it starts after `before` zeros and is as long as x "
        "is. `shrink` wants a start and an end for each axis, and not widths.",
        "The elements of x are at before … before + size. What flowed to the zeros is dropped.",
    ),
    "flip_gradient": (
        "What undoes a flip?",
        "The same op, along the same axes. `flip` takes axes one by one, so mind the star.",
        "Flipping twice is doing nothing, so each element's gradient is back at its place.",
    ),
    "reduce_gradient": (
        "Two ops, two answers. In a sum, if one element grows by 1, what does the sum do? And "
        "in a maximum, whose growing matters?",
        "For a sum, everybody gets all of it: expand. For a maximum you need a mask of the "
        "largest elements (equal to the maximum, once that is expanded), and you need to know "
        "how many of them share.",
        "In a sum each element counts fully. In a maximum only the largest do, and if there are "
        "several, the gradient is divided by their number, so that it isn't handed out twice.",
    ),
    "gradient": (
        "When may a node hand its gradient on to its sources? Not before everything has "
        "arrived. Who does it come from? You already have an order that makes sure of it, if "
        "you go through it backwards. Which one?",
        "Keep a dict from each node to its gradient so far: at first only the loss, with 1. Go "
        "through toposort() backwards. A node that has a gradient and a row asks its row and "
        "adds the parts to what its sources have. Then there are nodes that don't matter: those "
        "with nothing wanted below them. Work those out beforehand, going forwards.",
        "Backwards, all users of a node come before it, so its gradient is complete when its "
        "turn comes. What comes in along several paths is added up. And all of it is made of "
        "nodes, so it's lazy, and has a gradient of its own.",
    ),
    "SGD": (
        "What does an optimizer have to remember between steps? And in a step, in which order: "
        "may one parameter move before the others have their gradients?",
        "loss.gradient gives all of them at once. A parameter is a Tensor that everybody holds, "
        "so it has to stay the same object: only its `uop` becomes a new node. Then realize the "
        "loss and the parameters together.",
        "All gradients are taken while nothing has moved. Realizing at the end of each step "
        "keeps the next step's graph from containing this one's.",
    ),
    "Adam": (
        "Which numbers live on from one step to the next? Two for each parameter, and something "
        "that knows how many steps there have been. Where could that live, if not as a number "
        "in Python?",
        "Make Tensors for m, v, and for b1 and b2 to the power of the number of steps, which "
        "start at 1 and are multiplied in each step. They all get a new `uop`, as a parameter "
        "does, and all are realized with it, in one go.",
        "The averages start at 0, and dividing by 1 - b1**t makes up for that. With the powers "
        "in Tensors, every step is the same graph with other numbers in it, so a compiler has "
        "to look at it once.",
    ),
    "Mine": (
        "Start with one that is a formula of what's there: tanh from exp, a sigmoid, abs from "
        "maximum. Does it survive an x of 100? Of -100?",
        "tanh(x) is 2 sigmoid(2x) - 1. An index is a shrink to one element, then a reshape; a "
        "slice is a shrink. A power of a whole number is multiplication, and should work for "
        "negative numbers, for which there is no logarithm. With add_op, an op gets rows of its "
        "own.",
        "These three are examples, and yours may be others. Whatever is made of ops gets its "
        "gradient for free.",
    ),
}
