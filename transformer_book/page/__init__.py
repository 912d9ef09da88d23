"""A model on a page: its scripts, and a page of its own."""
