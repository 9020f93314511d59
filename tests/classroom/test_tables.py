"""Tables of the machine and of the settings say what the framework says."""

from __future__ import annotations

import re

import pytest

from classroom import devices
from classroom.tables import Table, machine, stages_table
from tinyframe import Context, Device, Tensor


def test_the_table_of_the_machine_follows_the_settings(monkeypatch):
    monkeypatch.setattr(devices, "tried", lambda name: ("a card", ""))  # no process for each
    with Context(THREADS=1):
        one = dict(machine().body)
    with Context(THREADS=2, DEVICE="PYTHON"):
        two = dict(machine().body)
    threads = "cores that a kernel may use (THREADS)"
    assert (one[threads], two[threads]) == ("1", "2")
    assert two["default device"] == "PYTHON"
    floats = Device["CPU"].renderer.target.vector_bytes // 4
    assert one["one vector"].endswith(f"which is {floats} floats")
    assert one["C compiler"]


@pytest.mark.parametrize("broken", ["CL", "CUDA"])
def test_a_device_that_cannot_be_used_is_not_listed_as_one_that_works(monkeypatch, broken):
    answers = {broken: ("", "there is no driver")}
    monkeypatch.setattr(devices, "tried", lambda name: answers.get(name, ("a card", "")))
    table = dict(machine().body)
    works = table["devices that work"].split(", ")
    assert {"CPU", "PYTHON", "NULL", "WEBGPU (a card)"} < set(works)
    assert not any(device.startswith(broken) for device in works)
    assert table[f"{broken} is missing"] == "there is no driver"
    assert sum(label.endswith("is missing") for label in table) == 1


def test_why_a_device_is_missing_is_told_to_its_end(monkeypatch):
    advice = f"there is no driver ({'many words, ' * 20}). Install one."
    monkeypatch.setattr(devices, "tried", lambda name: ("", advice))
    assert dict(machine().body)["CUDA is missing"] == advice


def test_a_table_is_text_in_columns_and_html_without_surprises():
    table = Table(("name", "meaning"), [("a<b", "less & more"), ("longer name", "x")])
    assert repr(table).splitlines()[1:] == ["a<b          less & more", "longer name  x"]
    assert "a&lt;b" in table._repr_html_() and "less &amp; more" in table._repr_html_()


def test_a_long_table_is_folded_in_a_notebook_and_printed_whole():
    table = Table(("name",), [("one",), ("two",)], summary="2 < 3 names")
    shown = table._repr_html_()
    assert shown.startswith("<details><summary>2 &lt; 3 names</summary><table")
    assert shown.endswith("</table></details>")
    assert repr(table).splitlines() == ["name", "one", "two"]
    assert "details" not in Table(("name",), [("one",)])._repr_html_()


def test_the_stages_are_those_that_debug_4_shows(capsys):
    numbers = Tensor([[1.0, 2.0]]).realize()
    with Context(DEBUG=4):
        (numbers * 3).sum(axis=1).realize()
    titles = r"^───── (.+?)(?: \(nothing to do\))? ─+$"
    shown = re.findall(titles, capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in stages_table().body] == shown
