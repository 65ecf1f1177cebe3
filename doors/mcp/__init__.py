"""The service as an MCP server, over HTTP and standard input and output (docs/mcp.md)."""
