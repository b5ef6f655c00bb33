"""Where rows lie and what computes over them: sources, their fingerprints, and engines."""
