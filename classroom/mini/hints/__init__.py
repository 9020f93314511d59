"""The hints of mini, a file for each stage: HINTS, {function: (a first hint, a second, why the worked
answer is right)}. Neither hint has a line of the answer in it.
"""
