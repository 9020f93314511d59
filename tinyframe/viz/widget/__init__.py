"""Steps through rewrites in a notebook: the widget in Python, and its page in JavaScript."""
