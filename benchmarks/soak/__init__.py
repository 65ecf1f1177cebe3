"""Days of queries with faults and retention, and what they leave behind."""
