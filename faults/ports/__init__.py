"""Ports of one query with faults in them: model, tools, store, clock, events and work."""
