"""Plans: questions as values, whose types, bounds and stability are derived before any data is touched."""
