# %% wrong, each line
["w"]  # says isn't among what was printed
12  # says has to be a list of commands
["up 99", "p len(ast.toposort())"]  # all the way out, past the compiler

# %% right, each line
"up 9 ;; p len(ast.toposort())"  # two commands in a line

# %% right: goes out by itself, however far it is
commands = ["import sys; frame = sys._getframe()",
            "while 'ast' not in frame.f_locals: frame = frame.f_back",
            "p len(frame.f_locals['ast'].toposort())"]
