"""The drivers of GPUs, and an emulator."""
