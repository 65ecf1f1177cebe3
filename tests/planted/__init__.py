"""Ten bad answers with a known cause each, asked of the real service."""
