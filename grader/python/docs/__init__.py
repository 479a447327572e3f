"""What generates the documents: tables, results, counters and rates."""
