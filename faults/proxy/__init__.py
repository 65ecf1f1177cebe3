"""A proxy in front of a model's server that breaks replies by a fault plan, and reports how the client reacted."""
