# %% right, each line
"tinyframe.codegen.decompose.elementary"  # as a module
