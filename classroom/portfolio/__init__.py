"""A page of what a learner made, to be shown to somebody: `python -m classroom portfolio`.

portfolio()           in a notebook: the page of this copy of the course
portfolio().save()    writes my_portfolio.html beside the notebook
"""

from __future__ import annotations

from classroom.learner import record
from classroom.portfolio.made import Made, made
from classroom.portfolio.page import Portfolio
from classroom.portfolio.sample import sample

__all__ = ["Portfolio", "portfolio", "sample"]


def portfolio(name: str = "", date: str = "") -> Portfolio:
    """The page of the learner's copy that the working directory is in; outside of one, of nothing.
    name, date: what stands on it if you say so."""
    progress = record.place()
    return Portfolio(made(progress.parent) if progress else Made(), name, date)
