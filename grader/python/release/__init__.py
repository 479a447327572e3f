"""Makes what is handed out: starters, the students' kit, archives for course systems, a new lab's skeleton."""
