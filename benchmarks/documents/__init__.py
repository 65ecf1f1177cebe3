"""How much of real files the readers keep, compared with older readers and other tools."""
