# %% guesses
((512, 512), (512, 64), (512, 4096), (32, 256), (32, 32), (1, 8))

# %% asked again, each line
'512 and 512'  # a sentence
