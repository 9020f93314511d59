"""The explorer: what tinyframe did, step by step, in a browser.

VIZ=1 python script.py                    opens it, and stays until Ctrl-C
VIZ_TRACE=run.trace python script.py      writes its data to a file
python -m tinyframe.viz run.trace         opens that file later, or prints it (--ls)
"""
