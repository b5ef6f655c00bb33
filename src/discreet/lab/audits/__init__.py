"""Audits: attempts to refute a promise of privacy, of a mechanism or of a question."""
