"""What stands around the course: checked exercises, progress, the grader, how notebooks are made."""
