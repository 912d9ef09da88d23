"""Data sets, from a second of copying to real translations (section 5.1)."""
