"""Speed, memory, start and cost of the service, with a history of the runs: `make bench`."""
