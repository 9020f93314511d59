# %% guesses
("never", "always", "thousands", "millions")

# %% asked again, each line
'from millions'  # two words
