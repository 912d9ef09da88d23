"""Measurements, side by side: `python -m benchmarks --help`."""
