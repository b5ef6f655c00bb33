"""Rules that several functions share, and those of signs, comparisons, connectives and choices."""
