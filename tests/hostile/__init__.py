"""Hostile content: the attacks that documents, tools and models may try, and their effect."""
