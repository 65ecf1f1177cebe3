"""The harness itself: that it finds what is broken, and that nothing is."""
