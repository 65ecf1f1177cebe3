"""What of real files the readers keep, beside older ones and other tools."""
