"""Reads hand-ins: archives, names, the roster."""
