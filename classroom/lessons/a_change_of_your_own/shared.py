"""What several exercises of this lesson need."""

from classroom.contributing.scratch import SPECIAL, TESTS, functions_of, judged
from classroom.exercise import Wrong, wrong_if


def try_test(answer, which: str) -> None:
    found = functions_of(answer)
    if not any(function.__name__.startswith("test") for function in found):
        raise Wrong("A test has to be a function whose name begins with `test`.")
    told = judged([(TESTS, f) for f in found], tests=[TESTS], planted=which)
    failed = [result for result in told["tests"][0] if result["error"]]
    wrong_if(not failed,
             "Your test passes, and Tensor has no `sinc` yet. A test that can't fail says nothing.",
             "tinyframe as it is")  # fmt: skip
    first = failed[0]
    if first["error"] != "AttributeError" or "sinc" not in first["text"]:
        raise Wrong("It fails today, as it should, but for the wrong reason.", "tinyframe as it is",
                    "AttributeError: … has no attribute 'sinc'",
                    f"{first['error']}: {first['text']}", more=where(first))  # fmt: skip
    right, *wrong = told["planted"]
    if right["failed"]:
        first = right["failed"][0]
        close = " (float32 has about seven digits, so leave room for rounding.)"
        compares = first["error"] in ("AssertionError", "ValueError")
        raise Wrong(f"Your test fails on a sinc that is right.{close * compares}",
                    got=f"{first['error']}: {first['text']}", more=where(first))  # fmt: skip
    for planted in wrong:
        if not planted["failed"]:
            raise Wrong(f"Your test doesn't notice a sinc that {planted['said']}.")


def where(result: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return (("your line", f"`{result['line']}`"),) if result["line"] else ()


def try_method(answer, which: str) -> None:
    found = functions_of(answer)
    if found[-1].__name__ != "sinc":
        raise Wrong("The method has to be called `sinc`, as in NumPy.",
                    got=f"`{found[-1].__name__}`")  # fmt: skip
    for problem in judged([(SPECIAL, f) for f in found], cases=which)["cases"]:
        if "NameError" in problem["text"]:
            problem["text"] += " (In special.py, there's only what that file has.)"
        raise Wrong(problem["text"], problem.get("case", ""), problem.get("expected", ""),
                    problem.get("got", ""))  # fmt: skip
