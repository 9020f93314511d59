"""Source text to running code, one module per backend, and the disk cache that they share."""
