"""The paths of the API, one subject a file."""
