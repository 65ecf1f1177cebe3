"""Hostile content: what documents, tools and models may try, and what comes of it."""
