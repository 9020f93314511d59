"""The report: `python projects/NAME`. There's nothing to write here."""

from work import main

main()
