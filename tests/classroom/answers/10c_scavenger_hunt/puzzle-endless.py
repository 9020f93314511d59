# %% wrong, each line
"RewriteLoopError"  # that's what is raised, and it counts nothing
