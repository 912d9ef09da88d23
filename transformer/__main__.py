"""`python -m transformer`: train, translate, evaluate."""

from transformer.cli import main

main()
