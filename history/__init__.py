"""What can be done with a recorded query: replay it, resume it, fork it, and compare it with another."""
