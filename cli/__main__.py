"""`python -m antiphon.cli`: runs the `antiphon` command if it is not installed."""

from antiphon.cli.process import main

main()
