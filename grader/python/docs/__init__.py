"""Generates parts of the documents: tables, results, counters and rates."""
