"""Prints the report. There's nothing to write here."""

from work import main

main()
