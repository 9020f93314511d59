"""Part 10c: twenty questions about tinyframe's source. Thirteen ask for a name, seven for a change.

Nothing is counted but that a question is answered. `hunted.py` finds what is right, by running
tinyframe and looking on; `changes.py` tries a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from classroom.puzzlebook import changes, hunted
from classroom.puzzlebook.game import Game
from classroom.puzzlebook.hunted import Names, Words
from tinyframe.viz.picture import Picture


@dataclass(frozen=True)
class Question:
    """One of the twenty. check: as an exercise has it. par and best mean nothing here."""

    name: str
    sentence: str
    check: Callable[[Any], str]
    hints: tuple[str, str]
    because: str
    par: int = 0
    best: int = 0
    seconds: float = 30.0

    def trial(self) -> Search:
        return Search(self)

    def example(self) -> None:
        """Nothing: what there is to see is in tinyframe."""


@dataclass(frozen=True)
class Search:
    """One try at a question. Nothing is scored or drawn."""

    question: Question

    @property
    def score(self) -> None:
        return None

    def check(self, answer: Any) -> str:
        return self.question.check(answer)

    def picture(self) -> Picture | None:
        return None


# ---- the twenty ----------------------------------------------------------------------------------


def ask(
    name: str, sentence: str, check: Callable[[Any], str], first: str, second: str, because: str
) -> Question:
    return Question(name, sentence, check, (first, second), because)


QUESTIONS = (
    ask(
        "one_turn",
        "A loop of one turn is no loop. Which rule takes its RANGE away?",
        Names(hunted.rule_for_one_turn,
              "I simplified a kernel with such a loop, and this row fired."),
        "What does a RANGE of one turn become? Which kind of table could have a row for that?",
        "Look for RANGE in the tables of `algebra/symbolic.py`.",
        "A RANGE whose smallest and largest value are the same is a constant. That's a fact of "
        "algebra, so the row is among the index rules.",
    ),
    ask(
        "minus",
        "The graph of `i - j` has no SUB in it, only `i + j * -1`. For whole numbers, which rule "
        "puts the minus into the C?",
        Names(hunted.who_subtracts, "It's the row that made a SUB when I compiled `i - j`."),
        "It's not an op that C lacks. It's one that C has, and that reads better. What are such "
        "things called here?",
        "`codegen/decompose/idioms.py`: which function has an example with a minus in it?",
        "Algebra wants one form for every sum, and a sum of products is that form. So SUB comes "
        "back at the very end, as an idiom.",
    ),
    ask(
        "endless",
        "A rule makes a graph larger and larger, until somebody loses patience. Which class counts "
        "the steps?",
        Names(hunted.who_counts_steps, "I let such a rule run. That's where the error was raised."),
        "What you get is a RewriteLoopError. Where is it made?",
        "`rewrite/matcher.py` has a class with `count` and `limit`.",
        "Every rewrite is a step, and somebody adds them up. The same class records them for "
        "DEBUG=4.",
    ),
    ask(
        "row_out",
        "Write a function that gives the table `value_rules` without the row that makes `x * 1` an "
        "`x`. The other rows stay.",
        changes.row_taken_out,
        "A table is a PatternMatcher, and it has a list of its rules. Which of them fires?",
        "Record `graph_rewrite(x * 1.0, value_rules)` to find the row; then `without`.",
        "Rules are data, so taking one out needs no change to tinyframe.",
    ),
    ask(
        "who_stores",
        "`why` says \"needed 4 times\". Which function decided that this value is stored?",
        Names(hunted.who_stores, "It returned that very string."),
        "The cost rule of 4b decides. In which folder would you expect it?",
        "Search `schedule/fuse.py` for the words `needed {`.",
        "The cost rule is one method, and its answer is the reason, as a string, or None. What "
        "`why` prints is simply that.",
    ),
    ask(
        "one_number",
        "`(table * w.exp()).sum(axis=1)` stores the exponentials first, as in 7b. Change one "
        "number of `thresholds.py`, and it doesn't. A pair: its name and a new value.",
        changes.one_number,
        "Each exponential would be computed four times. Who says that this is too often?",
        "Two numbers of the first section matter here: one says how often is too often, one says "
        "what's cheap.",
        "The cost rule compares the evaluations with a limit, unless the value is cheap. Raise "
        "either, and the exponentials move into the kernel.",
    ),
    ask(
        "one_kernel",
        "`x / x.sum()` takes two kernels. Write a function that does it in one.",
        changes.in_one_kernel,
        "Who decides that the sum is stored? Can you overrule them?",
        "The README of tinyframe names one method that overrules the cost rule.",
        "FUSE tells the cost rule to store nothing below it, so the sum is computed for each "
        "element anew. It's legal, and on a large x it's terrible.",
    ),
    ask(
        "long_sums",
        "A sum of 1000 floats gets a second accumulator in C. Which number of `thresholds.py` "
        "decides that?",
        Words(hunted.numbers_of_long_sums,
              "I made each of the numbers four times as large, and looked which changed the C.",
              "If that number is four times as large, the C stays the same."),
        "How many additions does one accumulator have to bear?",
        "The last section of `thresholds.py` is about code.",
        "A running sum loses digits as it grows, so it's taken in blocks. The number is how many "
        "additions a block may have.",
    ),
    ask(
        "promotion",
        "An int32 plus a float16 is a float16. Which function says so?",
        Names(hunted.who_promotes, "It was given both dtypes, and returned the float16."),
        "Is that a question about Tensors, or about dtypes?",
        "`dtype.py`: which function is given some dtypes, and returns one?",
        "Promotion is a small lattice, and the answer is the least dtype above both.",
    ),
    ask(
        "dead_end",
        "Name an op through which no gradient flows.",
        Words(hunted.dead_ends, "Nothing is sent back through it.",
              "There's a row for that one in the table of gradients, or it's no op that computes."),
        "Is there an op whose result jumps, or stays, whatever you do to its input?",
        "`gradient_rules` in `tensor/gradient.py` has a row for each op that lets one through.",
        "Comparisons and whole-number tricks have no slope, so there's no row for them. And DETACH "
        "is there to stop a gradient.",
    ),
    ask(
        "watchman",
        "Somebody's pass makes an ADD with one source. Which setting has every graph inspected "
        "after every stage?",
        Words(hunted.watchmen, "I tried them all on an ADD with one source.",
              "With that one, nobody minds an ADD with one source."),
        "All settings stand in one table, with a sentence each.",
        "`tinyframe/settings.py`, in the part on how to compile.",
        "What's legal at which level is a table, too: `rewrite/spec.py`. The tests run with it.",
    ),
    ask(
        "no_work",
        "`log(exp(x))` is `x`, on paper. Which settings have tinyframe believe it? A dict, from "
        "names to values.",
        changes.no_operation_left,
        "On paper isn't in floats. Which setting allows what isn't exact?",
        "Read `simplify` in `codegen/__init__.py`, and remember what the first cell of this "
        "notebook has set.",
        "The inexact rules are only used if RELAXED is 1. With NOOPT=1, which all our notebooks "
        "begin with, `simplify` takes the index rules alone.",
    ),
    ask(
        "lanes",
        "Split a loop with a VECTOR Opt, and sooner or later there's a VECTORIZE in the graph. In "
        "which pass does it turn up?",
        Words(hunted.pass_of_vectors, "Before it, no node had that op.",
              "There's no new VECTORIZE after that one."),
        "Run the passes one by one, as in 7b, and look at the ops after each.",
        "`for name, function in passes: sink = function(sink, job)`, with a `Compilation` that has "
        "a VECTOR among its Opts.",
        "Up to there, a VECTOR loop is a RANGE like any other. This pass makes its turns into the "
        "lanes of one value.",
    ),
    ask(
        "registers",
        "For 64 × 64 times 64 × 64, `[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]` keeps a "
        "tile of sums in registers. Change one number, so that they need twice the registers.",
        changes.twice_the_registers,
        "How many rows of sums does UPCAST make, and how wide is each?",
        "The tile is 4 rows of 8. Either 4 or 8 can be doubled.",
        "The sums are a tile, rows times lanes. Doubling either doubles the registers.",
    ),
    ask(
        "kernel_name",
        "E_3, r_64_16. Which function makes these names?",
        Names(hunted.who_names_kernels, "It returned the name of `a + b`."),
        "Is the name made before the Opts are known, or after?",
        "`ProgramSpec` asks for it when somebody first wants to know its name in the C.",
        "The name is E or r, for elementwise or reduce, and the lengths of its loops.",
    ),
    ask(
        "better_exp",
        "You've found a better polynomial for the exponential. Which file do you change?",
        Names(hunted.where_exponentials_are_made, "Its functions ran when I compiled an EXP2."),
        "Does any device need it? Only one without an EXP2 of its own. So what's the pass called?",
        "`codegen/decompose/` has a file for each kind of op.",
        "The C of a plain processor has no EXP2, so decomposing makes one of products and shifts. "
        "The elementary functions have a file to themselves.",
    ),
    ask(
        "no_peeking",
        "`x.pad(…)` must not read what isn't there, so there's a `? :` in the C. Which method "
        "writes it?",
        Names(hunted.who_asks_before_reading,
              "It asked the language for the words, and had a question mark in its text."),
        "Which folder turns nodes into text?",
        "`Writer` in `renderer/program_text.py` has a method for what reads memory.",
        "Validity belongs to the INDEX, and a load of an INDEX with a condition is written with "
        "`? :`, so nothing is read where it's false. The words are the language's: `guarded`.",
    ),
    ask(
        "spelled",
        "A language without a plus: `a + b` should read `add(val0, val1)` in the C. Write it as a "
        "subclass of CStyleLanguage.",
        changes.spelled_out,
        "Where does CStyleLanguage say how an ADD is written?",
        "`code_for_op` is a dict. A row of yours takes the texts of both sources, and `dtype`.",
        "A language is a table, and one row of it is different. That's how WGSL and Metal begin, "
        "too.",
    ),
    ask(
        "cache_key",
        "A C compiler with a new flag has to compile everything again, even if the text is the "
        "same. Which method tells the disk cache?",
        Names(hunted.who_says_what_a_binary_depends_on,
              "It gives all that the machine code depends on, beside the text."),
        "What's the key of a compiled kernel? You designed one in 8a.",
        "`Compiler.compile_cached` in `device.py` puts two things into the key. One is the text.",
        "The key is that string and the source: compiler, version, flags and machine.",
    ),
    ask(
        "witness",
        "Write `names(job)`: it calls `job()`, and returns the names of the kernels that ran "
        "meanwhile, in order.",
        changes.witnessed,
        "Who's told when a kernel has run?",
        "`observe.py`: subclass Observer, write `ran`, and call the job inside of `observing`.",
        "Nobody has to be asked: the runner tells whoever observes. That's how the pictures and "
        "the explorer know what happened.",
    ),
)  # fmt: skip

GAME = Game("hunt", "10c", "The scavenger hunt", "", QUESTIONS)
