"""The checks of mini, a file for each stage: `checks`, in the order in which they are run."""
