"""Exact noise: integers drawn from their true distribution, from the operating system's randomness."""
