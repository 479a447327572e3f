"""Decides what counts: due dates, points by hand, similarity."""
