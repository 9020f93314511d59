"""The hints of mini, a file for each stage.

HINTS: {function: (a first hint, a second one, why the worked answer is right)}. No hint has a line
of the answer in it.
"""
