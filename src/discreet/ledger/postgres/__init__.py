"""A vault in PostgreSQL."""
