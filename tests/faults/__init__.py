"""The fault harness itself: it finds what is broken, and finds nothing broken in the product."""
