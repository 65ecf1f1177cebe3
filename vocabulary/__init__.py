"""The shared language: every event, value, port and error; imports nothing of ours."""
