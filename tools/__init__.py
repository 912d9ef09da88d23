"""What the Makefile calls: setting up, building the book, proving it."""
