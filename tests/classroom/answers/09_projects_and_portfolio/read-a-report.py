# %% wrong, each line
{11: "return after - before"}  # says line 6: return x - x.mean(1)
{"six": "return x"}  # says lines 1 to 15
{6: "return x - x.mean(1, keepdims=True"}  # says Python can't read the file now
[6, 11]  # says has to be a dict
{5: 'def from_mean(x, keepdim=True):', 11: 'return after - before'}  # keepdim is in the wrong place

# %% right, each line
[(6, "return x - x.mean(axis=1, keepdims=True)"), (11, "return -(before - after)")]
{6: 'return (x.T - x.mean(1)).T', 11: 'return x[:, 1:] - x[:, :-1]'}  # turned, so that the means meet the days
