"""The paths of the API, with one file for each subject."""
