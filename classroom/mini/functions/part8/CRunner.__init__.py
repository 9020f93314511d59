"""Hint: What turns lines into a text, and what turns a text into a library? Which of the two names
the function?
Hint: `render` gives (name, text). `compiled` gives a path, and ctypes.CDLL wants it as a string.
CDLL(…)[name] is the function. Keep the text in self.text.
Because: A shared library is just a file with machine code and a table of names in it. Loading it
puts the code into this process, where it can be called.
"""

from classroom.mini.check import Wrong, describe, promise
from classroom.mini.functions.part7b.shared import kernels_of, tensor
from classroom.mini.functions.part8.shared import SHAPE


@promise("It has a function that was compiled, and the text that it's made of")
def compiled_function(mini) -> None:
    a = tensor(mini, *SHAPE)
    ((kernel, _),) = kernels_of(mini, (a * 2).uop)
    lines = mini.linearize(mini.lower(kernel)[0])
    runner = mini.CRunner(lines)
    if "for (" not in str(getattr(runner, "text", "")):
        raise Wrong("Keep the text in self.text: whoever has a runner will want to read it.",
                    "CRunner(lines).text", "the text of the C function",
                    describe(sorted(vars(runner))))  # fmt: skip

# %% wrong: says Keep the text
def __init__(self, lines):
    self.function = None

# %% wrong, changed: says CalledProcessError
# -     name, self.text = render(lines)
# +     self.text, name = render(lines)

# %% wrong, changed: says OSError
# -     self.function = ctypes.CDLL(str(compiled(self.text)))[name]
# +     self.function = ctypes.CDLL(str(self.text))[name]

# %% right
def __init__(self, lines):
    rendered = render(lines)
    self.text = rendered[1]
    self.library = ctypes.cdll.LoadLibrary(compiled(self.text))
    self.function = getattr(self.library, rendered[0])
