"""What stands around the course: exercises checked as they are done, progress, grading, building."""
