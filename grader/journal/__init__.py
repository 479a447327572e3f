"""The student's tools: lab journal, report pages, sweeps and submission. Imports nothing from grader/course."""
