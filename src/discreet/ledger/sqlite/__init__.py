"""A vault in one SQLite file."""
