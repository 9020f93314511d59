# %% guesses
((3, 8), (10, 10), (8, 10), (3, 10), (5, 9))

# %% asked again, each line
'3 and 8'  # a sentence is no tuple
{3, 8}  # a set doesn't say which is which

# %% right, each line
[3.0, 8]  # a list, and a float that is whole
