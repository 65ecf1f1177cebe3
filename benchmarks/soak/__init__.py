"""Days of queries with faults and retention, and the resources that they leave in use."""
