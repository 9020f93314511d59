"""Stage 8: two devices, and a step that's written down once."""

HINTS = {
    "CRunner.__init__": (
        "What turns lines into a text, and what turns a text into a library? Which of the two "
        "names the function?",
        "`render` gives (name, text). `compiled` gives a path, and ctypes.CDLL wants it as a "
        "string. CDLL(…)[name] is the function. Keep the text in self.text.",
        "A shared library is just a file with machine code and a table of names in it. Loading it "
        "puts the code into this process, where it can be called.",
    ),
    "CRunner.__call__": (
        "C knows nothing about NumPy. What does a `float*` want?",
        "ctypes.c_void_p(array.ctypes.data) for each array, in the order of the parameters.",
        "An array is an address, and a promise about what lies there. C gets the address, and "
        "believes the promise.",
    ),
    "PythonRunner.__call__": (
        "You have written an interpreter before, in stage 4: a dict from node to value. What's "
        "new here is that lines run more than once. Who decides which line comes next?",
        "Keep the number of the current line, and add 1 after each. An ENDRANGE sets it back to "
        "the line of its RANGE if there's more to do, so that the next is the one after it. "
        "src = [s.arg if it's a CONST, else its value] saves a lot of writing. Check the place "
        "before NumPy sees it: a[-3] means something in Python.",
        "This is what the program means, one line at a time. It's slow; but if C and this "
        "disagree, you know which one to suspect.",
    ),
    "numbered": (
        "Two graphs do the same work with different memory. What has to be replaced so that they "
        "become one node? And what mustn't be lost?",
        "toposort gives the BUFFERs in an order that only depends on the graph. Make a dict from "
        "each to a DEFINE_GLOBAL with its place in that order and its shape; `substitute` does "
        "the rest. The second dict is the same, turned round, with arrays.",
        "Nodes are unique, so equal work is the same object, and the object is the key of the "
        "cache. Building and compiling happen once; every later step finds them there.",
    ),
    "call": (
        "What does a kernel need before it can run, and where do later kernels find what it made?",
        "For each kernel: np.empty(result.shape, np.float32) goes into the dict, under the "
        "parameter of its result. Then call the runner with the arrays of its arguments, starred. "
        "In the end, look up the results.",
        "The kernels are in an order in which everything is there before it's read, and the dict "
        "is all the memory there is.",
    ),
    "replay": (
        "In the first call, every parameter had an array. Which of them are out of date by now, "
        "and which aren't?",
        'Start from a copy of tape["memory"]. zip(tape["slots"], tensors) says whose array '
        'belongs where now. After `call`, tape["places"] picks the result and the new state out '
        "of the list; a Tensor's new values are UOp(Ops.BUFFER, (), Buffer(array)).",
        "Inputs and state are put where they were, and nothing else is done: no graph, no rules, "
        "no compiler. That's why a captured step is faster, and why it can't notice that a "
        "Python number has changed.",
    ),
}
