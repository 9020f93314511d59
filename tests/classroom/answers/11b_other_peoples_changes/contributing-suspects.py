# %% shared
def halves(good, bad, verdict, what_of_a_skip):
    while bad - good > 1:
        mid = (good + bad) // 2
        word = verdict(mid)
        word = what_of_a_skip if word == "skip" else word
        good, bad = (good, mid) if word == "bad" else (mid, bad)
    return [bad]

def all_of_them(good, bad, verdict):
    """Goes outwards from the middle, past what can't be tested."""
    seen = set()
    while True:
        left = sorted(set(range(good + 1, bad)) - seen, key=lambda n: abs(2 * n - good - bad))
        if not left:
            return [*range(good + 1, bad + 1)]
        seen.add(left[0])
        word = verdict(left[0])
        if word == "bad":
            bad = left[0]
        if word == "good":
            good = left[0]

# %% wrong, each line
lambda g, b, v: halves(g, b, v, "bad")  # says 20 is missing
lambda g, b, v: "18, 19"  # says has to be a list
lambda g, b, v: [*map(str, all_of_them(g, b, v))]  # says a list of numbers of patches

# %% wrong: says in 29 trials, and 5 would do
def each_of_them(good, bad, verdict):
    words = {good: "good", bad: "bad"} | {n: verdict(n) for n in range(good + 1, bad)}
    low = max(n for n in words if words[n] == "good")
    high = min(n for n in words if words[n] == "bad")
    return list(range(low + 1, high + 1))
each_of_them

# %% wrong: goes up past what can't be tested, and never down
def suspects(good, bad, verdict):
    while bad - good > 1:
        n = (good + bad) // 2
        while n < bad and (word := verdict(n)) == "skip":
            n += 1
        if n == bad:
            return list(range(good + 1, bad + 1))
        good, bad = (good, n) if word == "bad" else (n, bad)
    return [bad]

# %% right, each line
all_of_them

# %% right: nearest to the middle; a range for a list
def suspects(good, bad, verdict):
    words = {}
    while True:
        left = [n for n in range(good + 1, bad) if words.get(n) is None]
        if not left:
            return range(good + 1, bad + 1)
        n = min(left, key=lambda n: abs(n - (good + bad) / 2))
        words[n] = verdict(n)
        good, bad = n if words[n] == "good" else good, n if words[n] == "bad" else bad
