"""Clients that third-party generators make from the published schema."""
