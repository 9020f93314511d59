# %% guesses
(
    ("float", "uchar", "float", "int"),
    ("int", "uchar", "float", "bool"),
    ("float", "int", "uchar", "uchar"),
)

# %% wrong, each line
('float32', 'uint8', 'float32', 'int64')  # PyTorch counts in int64

# %% right, each line
('float32', 'uint8', 'float32', 'int32')  # long names
(float, 'uchar', float, int)  # Python's types
