# %% wrong, each line
lambda: PatternMatcher(value_rules.rules[1:])  # a row is gone, and it's the wrong one

# %% right: takes them out one by one, and looks; of a number, not of an array
def without_times_one():
    from tinyframe import Variable, dtypes
    from tinyframe.rewrite import graph_rewrite
    x = Variable("x", 0, 9).cast(dtypes.float)
    for row in value_rules.rules:
        rest = value_rules.without(row)
        if graph_rewrite(x * 1.0, rest) is not x:
            return rest
