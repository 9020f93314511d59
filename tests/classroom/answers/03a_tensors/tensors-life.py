# %% shared
def life(board, survive=(2, 3), born=3, middle=False, wrap=False):
    if wrap:
        around = sum(board.roll((r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - board
    else:
        p = board.pad(((1, 1), (1, 1)))
        rows, columns = board.shape
        around = sum(p[r : r + rows, c : c + columns] for r in range(3) for c in range(3))
        around = around if middle else around - board
    alive = (around == survive[0]) | (around == survive[1])
    return ((board == 1) & alive) | (around == born)

# %% wrong, each line
lambda board: life(board, born=2)  # says [0, 2] is 1
lambda board: life(board, wrap=True)  # says wraps around
lambda board: board == 1 | board == 2  # says brackets around each comparison
lambda board: board.pad(((1, 1), (1, 1)))  # says axis 0 has a different size

# %% wrong: a torus
def life(board):
    n = sum(board.roll((i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return (n == 3) | ((n == 2) & board.bool())

# %% right, each line
lambda board: life(board).float()

# %% right
def life_by_rolling(board):
    """On a board with a dead border, wrapping round does no harm."""
    rows, columns = board.shape
    p = board.pad(((1, 1), (1, 1)))
    around = sum(p.roll((r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - p
    return (((around == 3) | (p * around == 2)) * 1)[1 : rows + 1, 1 : columns + 1]
life_by_rolling
