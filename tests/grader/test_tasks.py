"""What checks are written with: parts, kinds, containers; how a file of tasks is read."""

import collections
import enum
from pathlib import Path

import numpy as np
import pytest

from classroom.grader.answerer import _plain
from classroom.grader.channel import NumpyArray, Other, decode, encode
from classroom.grader.judge import load_project
from classroom.grader.tasks import (
    Ask,
    Project,
    Wrong,
    described,
    expect,
    expect_close,
    expect_equal,
    expect_integers,
    expect_kind,
    finding,
    or_known,
)
from tests.grader.here import Here, rows
from tinyframe import Tensor

# ---- parts ---------------------------------------------------------------------------------------


def judged(text, points=6, names=("one", "two", "three")):
    """The row of a check in parts: each of three entries of a dict is worth a third."""
    project = Project("Parts", points)

    @project.check("entries", points, "three entries", "Count.")
    def _(ask):
        found = ask("entries")
        for number, name in enumerate(names, 1):
            with ask.part(name):
                expect_equal(found[name], number, "it")

    return rows(project, text)[0]


def entries(**found):
    return f"def entries(): return {found}"


def test_all_parts_get_all_points():
    row = judged(entries(one=1, two=2, three=3))
    assert (row.points, row.passed) == (6, True)


def test_a_wrong_part_costs_its_share_and_is_named():
    row = judged(entries(one=1, two=9, three=3))
    assert (row.points, row.passed) == (4, False)
    assert row.found == "2 of 3 parts right: one; three\ntwo: it is 9, and should be 2"


def test_points_are_whole_and_rounded_down():
    assert judged(entries(one=1, two=2, three=9), points=5).points == 3
    assert judged(entries(one=1, two=9, three=9), points=2).points == 0


def test_a_part_that_is_not_there_costs_only_that_part():
    row = judged(entries(one=1, three=3))
    assert row.points == 4
    assert "two: there is no 'two' in {'one': 1, 'three': 3}" in row.found


@pytest.mark.parametrize(
    "got, said",
    [
        (4.0, None),  # right, and what the mistake gives as well
        (5.0, "you added 1"),
        (6.0, "it is 6.0, and should be 4.0"),
    ],
)
@pytest.mark.parametrize("wrap", [float, np.array, lambda x: NumpyArray(np.array(x))])
def test_a_mistake_is_looked_for_only_where_an_answer_is_wrong(got, said, wrap):
    def judge():
        with or_known(wrap(got), {"never told": 4.0, "you added 1": 5.0}):
            expect(got == 4, f"it is {got}, and should be 4.0")

    if said is None:
        judge()
    else:
        with pytest.raises(Wrong, match=said):
            judge()


def test_what_is_wrong_outside_of_parts_costs_everything():
    assert judged("def entries(): raise ValueError").points == 0


def test_a_part_that_is_asked_several_times_counts_once_and_has_to_be_right_each_time():
    row = judged(entries(one=1, two=2, three=4), names=("one", "two", "two"))
    assert row.found == "1 of 2 parts right: one\ntwo: it is 2, and should be 3"
    assert row.points == 3
    assert judged(entries(one=2, two=2), names=("one", "one")).points == 0


def test_no_answer_at_all_is_not_written_yet():
    assert judged("def entries(): ...").is_open
    assert judged("def entries(): return None").is_open


# ---- containers and kinds ------------------------------------------------------------------------

Point = collections.namedtuple("Point", "x y")


def arrived(value):
    """What a check gets of an answer."""
    arrays = []
    return decode(encode(_plain(value), arrays), arrays)


class Texts(enum.StrEnum):
    LOOP = "loop"


class Numbers(enum.IntEnum):
    TWO = 2


CONTAINERS = [
    (Texts.LOOP, "loop"),
    (Numbers.TWO, 2),
    (np.float64(0.5), 0.5),
    ({Texts.LOOP: (True, np.bool_(True))}, {"loop": (True, True)}),
    (Point(1, [2.5]), (1, [2.5])),
    (collections.OrderedDict(a=1), {"a": 1}),
    (collections.ChainMap({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
    (collections.defaultdict(int, a=1), {"a": 1}),
    (collections.deque([1, 2]), None),
    (range(3), [0, 1, 2]),
    (collections.UserList([1, 2]), [1, 2]),
    ({"a": Point(1, 2)}, {"a": (1, 2)}),
]
CONTAINERS = [(value, [1, 2] if wanted is None else wanted) for value, wanted in CONTAINERS]


@pytest.mark.parametrize("value, wanted", CONTAINERS, ids=lambda value: type(value).__name__)
def test_any_container_is_as_good_as_a_plain_one(value, wanted):
    expect_equal(arrived(value), wanted, "it")


def test_lists_and_tuples_are_alike_and_numbers_of_different_types_are_not():
    expect_equal([1, (2, 3)], (1, [2, 3]), "it")
    for got, wanted in ((1.0, 1), (True, 1), (1, 1.0), (1, True), ((1.0,), (1,))):
        with pytest.raises(Wrong):
            expect_equal(got, wanted, "it")


def test_a_numpy_array_is_told_apart_from_a_tensor_and_named():
    array = np.ones((2, 3), np.float32)
    expect_close(arrived(Tensor(array)), array, "it")
    found = arrived(array)
    assert type(found) is NumpyArray and found.shape == (2, 3)
    with pytest.raises(Wrong, match=r"it is a NumPy array of shape \(2, 3\), but should be a "):
        expect_close(arrived(array), array, "it")
    with pytest.raises(Wrong, match="it is a NumPy array"):
        expect_kind(arrived([array])[0], np.ndarray, "it")


def test_numpy_arrays_cross_both_ways_where_they_are_asked_for():
    def doubled(x):
        assert type(x) is np.ndarray
        x *= 2  # it may be written to
        return x[::2], x.astype(">f8")

    here, given = Here(""), np.arange(6.0).reshape(3, 2)
    here.module.doubled = doubled
    half, swapped = Ask(here, 0)("doubled", NumpyArray(given))
    expect_close(half, 2 * given[::2], "it", kind=NumpyArray)
    expect_close(swapped, 2 * given, "it", kind=NumpyArray)
    with pytest.raises(Wrong, match=r"it\[0, 1\] is 2, and should be 3"):
        expect_close(half, 2 * given[::2] + [0, 1], "it", kind=NumpyArray)
    with pytest.raises(Wrong, match=r"it is a Tensor of shape \(2,\).*but should be a NumPy array"):
        expect_close(arrived(Tensor([1.0, 2.0])), np.ones(2), "it", kind=NumpyArray)
    words = np.array(["a", "b"])
    with pytest.raises(Wrong, match="an object of type ndarray, but should be a NumPy array"):
        expect_close(arrived(words), np.ones(2), "it", kind=NumpyArray)


def test_floats_of_16_bits_are_held_to_their_own_precision():
    wanted = np.linspace(-1, 1, 7)
    expect_close(wanted.astype(np.float16), wanted, "it", rtol=1e-5)
    for wrong in (wanted.astype(np.float16) + np.float16(0.003), wanted.astype(np.float32) + 5e-5):
        with pytest.raises(Wrong, match=r"it\[0\] is -0.99"):
            expect_close(wrong, wanted, "it", rtol=1e-5)


def test_a_wrong_kind_is_named_with_what_was_asked_for():
    with pytest.raises(Wrong, match=r"^it is 24\.0, but should be an integer$"):
        expect_equal(24.0, 24, "it")
    with pytest.raises(Wrong, match="but should be a Tensor"):
        expect_close(2.0, np.array(2.0), "it")
    with pytest.raises(Wrong, match="dtype float32, but should hold integers"):
        expect_integers(np.ones(2, np.float32), "it")
    with pytest.raises(Wrong, match="an object of type object, but should be a list"):
        expect_kind(arrived(object()), list, "it")
    expect_integers(np.ones(2, np.int8), "it")
    expect(True, "")


# ---- a file of tasks -----------------------------------------------------------------------------


def test_hidden_checks_are_known_by_the_marks_and_tasks_keep_their_order(tmp_path):
    path = Path(tmp_path, "tasks.py")
    path.write_text(
        "from classroom.grader.tasks import Project\n"
        "project = Project('P', 4)\n"
        "@project.check('b', 1, 'seen', 'x')\ndef _(ask): pass\n"
        "@project.check('a', 1, 'seen', 'x')\ndef _(ask): pass\n"
        "### BEGIN HIDDEN\n"
        "@project.check(\n    'b', 1, 'kept',\n    'x')\ndef _(ask): pass\n"
        "@project.check('a', 1, 'kept', 'x')\ndef _(ask): pass\n"
        "### END HIDDEN\n"
    )
    checks = load_project(path).checks
    assert [(check.task, check.hidden) for check in checks] == [
        ("b", False), ("b", True), ("a", False), ("a", True),
    ]  # fmt: skip
    assert all(check.hidden == (check.shows == "kept") for check in checks)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([1, 2], "[1, 2]"),
        ({"a": (1, 2)}, "{'a': (1, 2)}"),
        ([[[[1]]]], "a list of things more than 3 levels deep"),
        (((((((Other("Any_"),),),),),),), "a tuple of things more than 3 levels deep"),
        ({"a": {"b": {"c": {}}}}, "a dict of things more than 3 levels deep"),
    ],
)
def test_a_sentence_shows_few_levels_of_what_came_back(value, shown):
    assert described(value) == shown


def test_what_no_check_foresaw_is_shown_as_it_came_back():
    found = finding(TypeError("x"), [1, "b"])
    assert found.text == "[1, 'b'] does not have the form that the task asks for"
