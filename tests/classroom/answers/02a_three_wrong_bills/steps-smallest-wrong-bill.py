# %% wrong, each line
([2.0], [1.0])  # says The till gets this one right
([1.0, 1.0], [0.5, 1.0])  # says isn't the smallest
([1.0, 2.0], [0.5])  # says 2 quantities and 1 prices
0.5  # says has to be two lists
([1.0], ["half"])  # says has to be two lists
([], [])  # says has to be two lists
([1e30], [1.0])  # says have to be numbers
([3.0], [2.0])  # the till gets it right
[1.0, 0.5, 0.5]  # three numbers are no two lists
([1, 0], [0.5, 7])  # one thing too many

# %% right, each line
(1.0, 0.1)  # one number for a list of one
(np.array([1]), np.array([2.5]))  # arrays
