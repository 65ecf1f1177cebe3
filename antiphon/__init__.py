"""Answers questions over course documents; every step of a query is an event to watch, record and replay."""
