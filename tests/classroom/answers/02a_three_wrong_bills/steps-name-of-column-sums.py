# %% guesses
("r_4_3", "r_3_4", "E_3_4", "r_4", "r_12")

# %% wrong, each line
'E_4_3'  # it boils down

# %% asked again, each line
43  # a number is no name

# %% right, each line
'R_4_3'  # capital letters
r'r_4_3 '  # a space after it
