"""Engines: where rows lie and what computes over them; a folder for each engine."""
