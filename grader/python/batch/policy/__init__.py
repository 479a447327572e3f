"""Decides what counts: due dates, points given by hand, similar files."""
