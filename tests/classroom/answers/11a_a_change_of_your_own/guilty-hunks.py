# %% wrong, each line
"BCDE"  # says D changes no kernel
"B"  # says explains why these are different
"the first"  # says letters from A to E
3  # says has to be letters
["exp", "lerp", "polynomial"]  # names, and letters were asked for

# %% right, each line
"c, b, e"
(letter for letter in "BCE")
