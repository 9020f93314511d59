"""Devices that run blocks of threads: plans, languages, drivers."""
