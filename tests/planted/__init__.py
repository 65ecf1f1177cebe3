"""Bad answers, each with a known cause, from the real service."""
