"""What stands around the course: checked exercises, progress, grading, how notebooks are made."""
