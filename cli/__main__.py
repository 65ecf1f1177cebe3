"""`python -m cli`: the `antiphon` command where it is not installed."""

from cli.entry import main

main()
