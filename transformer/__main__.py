"""`python -m transformer`: train, translate, evaluate."""

from transformer.command_line.cli import main

main()
