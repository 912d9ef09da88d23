"""The other forms of a chapter: notebooks, slides, paper."""
