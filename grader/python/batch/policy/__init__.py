"""Rules for the points of a course: due dates, points set by hand, similar files."""
