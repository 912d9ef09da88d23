"""Our solutions: what the reader is asked to write, in files that follow the book's chapters.

Each function is an exercise. Its signature and docstring are the skeleton that the reader fills in,
and what is imported above it, as far as it needs it, is given.
"""
