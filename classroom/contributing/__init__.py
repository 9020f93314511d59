"""What part 11, Contributing, needs: one module for each of its subjects."""
