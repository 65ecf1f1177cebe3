"""What a briefing costs and keeps, beside the transcript that it replaces: `make eval-memory`."""
