"""An expression of at most 30 characters that enters more rooms

Hint: Which rooms of tensor/ has nobody been in? What would take you there?
Hint: Random numbers open a few doors. Sorting them, or taking some of them, opens more.
Because: Methods that are made of many others take a long way: random numbers need whole numbers,
and sorting needs comparisons, gathering and movement.
"""

from classroom.ask import Wrong, count, describe
from classroom.paths import walked

SECONDS = 90


SHORT = 30  # characters


TO_BEAT = "Tensor.rand(3).sum()"


def check(answer) -> str:
    if not isinstance(answer, str):
        raise Wrong("The answer has to be an expression in quotes.", got=describe(answer))
    text = answer.strip()
    if len(text) > SHORT:
        raise Wrong(f"That's {len(text)} characters. At most {SHORT} are allowed.", got=text)
    mine, least = walked(text), walked(TO_BEAT)
    if len(mine.rooms) <= len(least.rooms):
        raise Wrong(f"It enters {count(len(mine.rooms), 'room')}, and `{TO_BEAT}` enters "
                    f"{len(least.rooms)}. Which room has nobody been in?", got=text)  # fmt: skip
    new = [file for file in mine.rooms if file not in least.rooms]
    return (
        f"{len(mine.rooms)} rooms in {len(text)} characters. You got into "
        f"{', '.join(new[:4])}{' and more' * (len(new) > 4)}."
    )

# %% wrong, each line
"a + b"  # says It enters
"Tensor.rand(3).sort()[0] + Tensor.rand(3)"  # says At most 30 are allowed
"a + c"  # says goes nowhere: NameError
59  # says has to be an expression
"m.sum()"  # hardly longer than a + b
"Tensor.rand(3).sort()[0].sum( )"  # 31 characters
"print(a)"  # there's nothing to compute

# %% right, each line
" Tensor.rand(3).sort()[0] "
"Tensor.randn(9).topk(2)[0]"  # normal numbers, and the largest
