"""Runs the judge on hand-ins, on this machine or on a cluster."""
