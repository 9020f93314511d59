# %% right, each line
"tinyframe.dtype.least_upper_dtype"  # as Python imports it
