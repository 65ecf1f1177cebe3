"""Many machines on one: workers, API nodes, NATS and Chroma as processes, loaded, killed and counted."""
