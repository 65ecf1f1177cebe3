"""Cost and loss of a briefing, beside the transcript that it replaces: `make eval-memory`."""
