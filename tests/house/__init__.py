"""Gates on the source itself, run by `make check`."""
