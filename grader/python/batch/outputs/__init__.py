"""Writes gradebooks, feedback, the batch's page and exports."""
