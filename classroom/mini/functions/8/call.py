"""Hint: What does a kernel need before it can run, and where do later kernels find what it made?
Hint: For each kernel: np.empty(result.shape, np.float32) goes into the dict, under the parameter
of its result. Then call the runner with the arrays of its arguments, starred. In the end, look up
the results.
Because: The kernels are in an order in which everything is there before it's read, and the dict
is all the memory there is.
"""

# %% wrong: says a list with an array for each result
def call(sink, memory, device):
    return []

# %% wrong, changed: says C will write 32-bit floats
-         memory[result] = np.empty(result.shape, np.float32)
+         memory[result] = np.empty(result.shape)

# %% wrong, changed: says An input was overwritten
-         memory[result] = np.empty(result.shape, np.float32)
+         memory[result] = next(iter(memory.values()))

# %% wrong, changed: says The values are different
-     return [memory[result] for result in results]
+     return [memory[result] for result in reversed(results)]

# %% wrong, changed: says The result has a different shape
-         memory[result] = np.empty(result.shape, np.float32)
+         memory[result] = np.empty(result.shape, np.float32).ravel()

# %% wrong, changed: says is one plan, used a hundred times
-     kernels, results = plan(sink, device)
+     kernels, results = plan(sink, lambda lines: device(lines))

# %% wrong: says x * 0.5 + 1 a hundred times comes to 2
known = {}

def call(sink, memory, device):
    """The same graph, so the same results."""
    kernels, results = plan(sink, device)
    for function, result, arguments in kernels:
        memory[result] = np.empty(result.shape, np.float32)
        function(*(memory[parameter] for parameter in arguments))
    return known.setdefault(sink, [memory[result] for result in results])

# %% right: all memory first, and nobody's dict is changed
def call(sink, memory, device):
    kernels, results = plan(sink, device)
    memory = {**memory, **{m: np.zeros(m.arg[1], "f4") for _, m, _ in kernels}}
    for function, _, arguments in kernels:
        function(*map(memory.get, arguments))
    return list(map(memory.__getitem__, results))

# %% right
def call(sink, memory, device):
    kernels, places = plan(sink, device)
    for run, out, parameters in kernels:
        memory.setdefault(out, np.zeros(out.shape, "f4"))
        run(*map(memory.get, parameters))
    return list(map(memory.__getitem__, places))
