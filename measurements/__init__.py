"""Everything that writes book/results and book/models: `python -m measurements --help`."""
