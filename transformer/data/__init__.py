"""Data sets, from a second of copying to real translations (section 5.1).

Each is imported from its own file, so that a new one is one more file and nothing else.
"""
