"""Measurements of the suite, each beside something else: `python -m benchmarks` prints a table."""
