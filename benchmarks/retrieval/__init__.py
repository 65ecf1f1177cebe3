"""Measures retrieval through the product's own library, on open sets."""
