"""Grades a whole batch of submissions: BATCH.md."""
