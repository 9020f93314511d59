# %% guesses
((0, 0, 1, 1), (2, 2, 2, 2), (0, 1, 1, 1), (0, 0, 1, 2), (0, 0, 2, 2))

# %% wrong, each line
range(4)  # 0, 1, 2, 3: four numbers, if by an odd road

# %% asked again, each line
'0 0 1 1'  # as text, it needs its commas; thought right
(0, 1, 1)  # three numbers of four
{0: 1}  # a dict is nothing of the sort

# %% right, each line
[0, 0, 1, 1]  # a list for a tuple
'0, 0, 1, 1'  # typed as text
