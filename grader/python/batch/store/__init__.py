"""Stores a batch: its database and its folders."""
