# %% wrong, each line
"simplify"  # says one heading further up
"tensor graph"  # says still says `MUL float`
"MUL"  # says No heading
4  # says has to be the name of a stage
['tidy numbers']  # a list is no name

# %% right, each line
'Tidy Numbers'  # capital letters
__import__('tinyframe.codegen').codegen.passes[0][0]  # looked up where the compiler keeps it
