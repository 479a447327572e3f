"""Grades hand-ins with the judge, on this machine or on a cluster."""
