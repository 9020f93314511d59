"""A class: what its students handed in, how it is graded side by side, and what is kept of it.

command.py     python -m classroom grade-class: grades a project of every student
grades.py      python -m classroom grades: looks at what is kept, changes it, hands it on

roster.py      who is in the class, under which names
people.py      whose records are whose, when the roster calls somebody otherwise
intake.py      what they handed in, each student's files for a project
layouts.py     whose each file is: folders, archives, what Canvas, Moodle and others export
commits.py     when a clone's file was committed
handed.py      one student's part of it
names.py       students and their names: as people write them, as names of files
match.py       which row of a table is which student
tables.py      CSV files that people and platforms write
deadlines.py   when it was due, late days, extensions

job.py         one grading as data, and doing it
workers.py     several at a time, in processes of this machine
cluster.py     or on a Dask cluster

records.py     what is kept: a JSON file for each student and project
sheet.py       what it comes to: a row for each student; statistics
course.py      one table for all projects
feedback.py    a page for each student
mistakes.py    what went wrong, and how often
class_page.py  a page on the class, for the instructor
mail.py        pages as mails, ready to be sent
theirs.py      a table of another system, kept as it came
exports.py     gradebooks of Canvas and Moodle; Gradescope, JUnit, GitHub
similar.py     submissions that are alike
"""
