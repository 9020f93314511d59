"""GPU drivers, and an emulator of CUDA."""
