"""Grade a whole batch of submissions; see BATCH.md."""
