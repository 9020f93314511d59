"""The grader. It judges; the submission, in a process of its own, only answers questions.

command.py     python -m classroom grade FILE
judge.py       asks every question of a project, adds up the points
handed_in.py   the file, the folder or the zip that is handed in
tasks.py       what a project's file of tasks is written with
report.py      the result as a table, JSON, and what Gradescope, GitHub and others read

sandbox.py     starts a process with all the protection that this system has; asks it
view.py        what of the file system such a process sees, as a table
warden.py      stands beside that process, sees that it keeps its limits, and ends it
confine.py     the process' own first steps: gives up what it must not have,
mounts.py      all files but those of the table,
seccomp.py     and system calls that it does not need
shut.py        where a device is written: tinyframe without those that are there
turns.py       graders side by side, and one alone
probe.py       tries what should not be possible then, so that reports claim only what is so
answerer.py    then, of a submission: loads the file, calls its functions, sends what they give
referee.py     or, of the grader: rebuilds graphs that a submission sent, counts, runs them

channel.py     how questions and answers are written on a pipe, and what is let through
graphs.py      graphs as tables; what a table must keep to
expressions.py tensor expressions that both sides build from the same text
"""
