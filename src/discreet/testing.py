"""Seeded bits and helpers for tests; nothing in the package imports this module."""
