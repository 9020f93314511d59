# %% shared
def as_python(mine, given, solution):
    import ast

    first, *known = [
        [line.strip() for line in ast.unparse(ast.parse(text)).splitlines() if line.strip()]
        for text in (mine, given, solution)
    ]
    return len([line for line in first if not any(line in each for each in known)])

# %% wrong: says nothing in it is new
def every_line(mine, given, solution):
    return len(mine.splitlines())
every_line

# %% wrong: says somebody worked on this
def never(mine, given, solution):
    return 0
never

# %% wrong: line by line, side by side
def own_lines(mine, given, solution):
    pairs = zip(mine.splitlines(), solution.splitlines())
    return sum(a.strip() != b.strip() for a, b in pairs)

# %% right, each line
as_python

# %% right: 4.0 is a whole number
def own_lines(mine, given, solution):
    strip = lambda text: [s for l in text.splitlines() if (s := l.partition("#")[0].strip())]
    known = strip(solution) + strip(given)
    return float(sum(line not in known for line in strip(mine)))
