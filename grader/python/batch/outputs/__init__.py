"""Writes gradebooks, feedback, the page and exports."""
