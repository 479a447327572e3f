"""The students' verbs: notes, the lab journal, sweeps, inspections and submission."""
