"""Runs of broken queries: the service in small, single plans, the matrix, pairs, kills and random experiments."""
