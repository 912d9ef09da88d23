"""What the book adds to Sphinx: formulas, its own parts of a page, widgets, what a page loads."""
