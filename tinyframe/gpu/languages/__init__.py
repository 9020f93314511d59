"""GPU languages."""
