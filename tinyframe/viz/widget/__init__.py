"""What needs a browser to be stepped through in a notebook: Python here, and its page beside it."""
