"""Gradients: rows as a model sees them, and sums of what it gets wrong about people, clipped person by person."""
