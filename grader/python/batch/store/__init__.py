"""Keeps a batch: its database and its folders."""
