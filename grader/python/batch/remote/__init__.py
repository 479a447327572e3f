"""Fetches hand-ins from a course system through its API, and returns grades and feedback."""
