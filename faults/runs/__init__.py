"""Runs broken queries: the service in miniature, single plans, the matrix, pairs, kills and random experiments."""
