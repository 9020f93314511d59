"""BEAM=n: the search for better Opts."""
