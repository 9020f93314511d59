"""Part 9's toys: a task of one line, three graders that can be fooled, and the real one."""
