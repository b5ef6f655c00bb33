"""SQL in: a SELECT, read into the same plans, keys and aggregates that the Python verbs build."""
