"""The course as a web site: `python -m classroom site`, or `make site`.

Notebooks become pages with what their cells printed and drew, beside a search, on light ground and
dark. Nothing is loaded from elsewhere when somebody reads it, so the folder may be put on any
server, or on a stick.

    pages.py     what is on it: notebooks, texts, and files of source that these link to
    conf.py      how Sphinx makes pages of that
    links.py     what a finished site links to that isn't there
    command.py   the command
"""
