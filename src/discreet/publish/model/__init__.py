"""Graphical models of a table: a junction tree, its fit to noisy marginals, and samples from it."""
