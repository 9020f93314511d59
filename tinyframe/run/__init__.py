"""Running a schedule."""
