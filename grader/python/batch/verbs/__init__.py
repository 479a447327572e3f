"""The verbs of warplab-course."""
