"""Tools of MCP servers, as ordinary tools; imported by name where `ANTIPHON_MCP` names such servers."""
