"""For students: what they write down and hand in. Imports nothing of grader/course."""
