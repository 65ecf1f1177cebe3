"""`python -m antiphon.cli`: the `antiphon` command where it is not installed."""

from antiphon.cli.process import main

main()
