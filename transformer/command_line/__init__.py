"""The command line: `python -m transformer`."""
