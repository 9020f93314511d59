"""What stands around the course: checks of exercises, progress, the grader, the notebooks' making."""
