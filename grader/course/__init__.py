"""Tools for instructors only: they make and check the course's files."""
