"""The composition root: settings, shared resources, and the tables of who decides and who acts."""
