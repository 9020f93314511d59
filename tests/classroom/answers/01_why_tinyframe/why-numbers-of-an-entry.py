# %% guesses
(2, 0, 1, 1_000_000, 2_000_000)

# %% wrong, each line
123_456 + 654_321  # all the numbers on the way

# %% asked again, each line
'two'  # a word for a number

# %% right, each line
2.0  # a float that is a whole number
len({123_456, 654_321})  # counted
