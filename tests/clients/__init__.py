"""Clients that other people's generators make from the published schema."""
