"""Stub."""

from classroom.gradebook.sheet import Row, Sheet


def page(row: Row, sheet: Sheet) -> str:
    return ""


def markdown(row: Row, sheet: Sheet) -> str:
    return ""
