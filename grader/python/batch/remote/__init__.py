"""Fetches hand-ins from a course system, and returns grades and feedback to it, by its API."""
