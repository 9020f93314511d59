"""Running what was scheduled."""
