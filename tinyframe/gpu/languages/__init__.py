"""The languages of GPUs."""
