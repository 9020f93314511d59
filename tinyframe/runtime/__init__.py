"""The CPU, PYTHON and NULL devices, and the C compiler that several devices share."""
