"""A proxy in front of a model's server that breaks what passes as a fault plan says, and tells what the client did."""
