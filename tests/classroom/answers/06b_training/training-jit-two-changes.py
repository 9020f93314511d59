# %% guesses
(30, 300, 10, 100)

# %% asked again, each line
Tensor([30.0])  # a Tensor is no number here

# %% right, each line
30.0  # a float
3 * 10  # worked out in the cell
