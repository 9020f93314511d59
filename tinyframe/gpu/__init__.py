"""Devices that run blocks of threads: passes, plans, languages and drivers."""
