"""Stage 3: places, indices, and Arrays that store nothing."""

HINTS = {
    "flat": (
        "Take (1, 2) in 3 rows of 4. How many elements have you walked past when row 1 begins? "
        "Which of the two sizes told you that? Now put a third axis in front, and ask again.",
        "Walk through the axes from the left and keep one number, the place so far. When the "
        "next axis comes along, each of the places so far turns into as many as that axis is "
        "long, and then you go a few further. That's one multiplication and one addition for "
        "each axis.",
        "After each axis, `place` is right for the axes seen so far. The next axis splits each "
        "of those places into `size` smaller ones. It's how you read 365 digit by digit: 3, "
        "then 3 * 10 + 6, then 36 * 10 + 5. Here, every digit has a base of its own.",
    ),
    "unflat": (
        "Place 6, in rows of 4. Which column is that, and what arithmetic did you just do? What "
        "is left over to find the row from?",
        "The last axis changes fastest, so it comes first: the remainder is its index, and the "
        "quotient is a place in what remains of the shape. You find the index from back to "
        "front, so it has to be turned round in the end.",
        "It's how you take a number apart into digits: remainder, quotient, remainder, "
        "quotient. The last digit comes out first.",
    ),
    "Array.of": (
        "An Array is a shape and a function from an index to a number. You have a list and a "
        "shape. Which function, given an index, finds the right element of the list?",
        "`flat` says at which place of the list an index is. Wrap that into a `lambda`, and "
        "give it to Array with the shape.",
        "The list is kept as it is. Only when somebody asks for an index is its place worked out.",
    ),
    "Array.moved": (
        "Nothing is moved! Somebody will ask the new Array for an index of *its own*. What do "
        "you have to know in order to answer, and who can tell you?",
        "Two functions in a row: first the one that turns a new index into an old one, then the "
        "one that has the numbers. The new Array's function is the two together.",
        "It is the composition of two functions. So a transpose of a million by a million costs "
        "nothing, and neither does the transpose of the transpose.",
    ),
    "Array.map": (
        "Somebody asks the new Array for one index. Which other Arrays do you have to ask, and "
        "for which index?",
        "All of them, and all for the same one. In a call, a star in front of something with "
        "many values hands them over one by one: f(first, *(g(x) for x in rest)).",
        "The same index everywhere, and the function last. Nothing is computed until that index "
        "is asked for.",
    ),
    "Array.sum": (
        "Take the shape (2, 3) and sum over axis 1. Somebody asks for element (1,) of the "
        "result. Which indices of the old Array do you need? Now the same over axis 0.",
        "An index of the result lacks one number. Cut it in two at `axis`, and put k between "
        "the halves, for each k from 0 up to the size of that axis. Shapes can be cut the same "
        "way.",
        "The index and the shape are cut at the same spot. In the index a k goes in; out of the "
        "shape, the size goes.",
    ),
    "Array.tolist": (
        "How many elements does an Array of this shape have, and in what order are they wanted?",
        "There is a place for each of them, 0, 1, 2 and so on, and you have a function that "
        "turns a place into an index. `prod` of a shape is how many there are.",
        "`unflat` knows the order of the places, so the list comes out row after row for any "
        "number of axes. Even for none: the product of no sizes is 1.",
    ),
}
