"""Tools of MCP servers as ordinary tools; imported by name if `ANTIPHON_MCP` names such servers."""
