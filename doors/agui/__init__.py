"""A question as a run of AG-UI (docs/agui.md)."""
