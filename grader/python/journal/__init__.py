"""The students' verbs: quiz, notes, journal, sweep, inspect, bug, submit, handouts."""
