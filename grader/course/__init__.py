"""For instructors only: what makes and checks the course's own files."""
