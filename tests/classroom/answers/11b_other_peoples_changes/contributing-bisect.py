# %% wrong, each line
lambda good, bad, is_bad: bad if is_bad(good - 1) else bad  # says go from 0 to 30
lambda good, bad, is_bad: is_bad((good + bad) / 4)  # says has to be the number
lambda good, bad, is_bad: [19]  # says has to be a whole number

# %% wrong: says in 19 trials, and 5 would do
def one_by_one(good, bad, is_bad):
    return next(n for n in range(good + 1, bad + 1) if is_bad(n))
one_by_one

# %% wrong: says 1 too small
def last_good(good, bad, is_bad):
    while bad - good > 1:
        mid = (good + bad) // 2
        good, bad = (good, mid) if is_bad(mid) else (mid, bad)
    return good
last_good

# %% wrong: by thirds, which takes more trials
def bisect(good, bad, is_bad):
    while bad - good > 1:
        third = (bad - good + 2) // 3
        if is_bad(good + third):
            bad = good + third
        elif good + 2 * third < bad and is_bad(good + 2 * third):
            good, bad = good + third, good + 2 * third
        else:
            good = min(good + 2 * third, bad - 1)
    return bad

# %% right
def by_recursion(good, bad, is_bad):
    if bad - good <= 1:
        return bad
    mid = good + (bad - good + 1) // 2 if (bad - good) % 2 else (good + bad) // 2
    return by_recursion(good, mid, is_bad) if is_bad(mid) else by_recursion(mid, bad, is_bad)
by_recursion

# %% right: Python has one
def bisect(good, bad, is_bad):
    from bisect import bisect_left
    return bisect_left(range(bad), True, lo=good + 1, key=is_bad)
