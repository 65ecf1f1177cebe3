"""A cluster on one machine: workers, API nodes, NATS and Chroma as processes, loaded, killed and measured."""
