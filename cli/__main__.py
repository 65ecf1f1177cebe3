"""`python -m antiphon.cli`: the `antiphon` command where it is not installed."""

from antiphon.cli.entry import main

main()
