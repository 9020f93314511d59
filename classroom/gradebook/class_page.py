"""Stub."""

from classroom.gradebook.sheet import Sheet


def page(sheet: Sheet, anonymous: bool = False) -> str:
    return ""
