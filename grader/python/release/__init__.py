"""Makes starters, the students' kit, archives for course systems, and a new lab's skeleton."""
