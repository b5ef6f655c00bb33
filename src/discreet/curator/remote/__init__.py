"""A vault behind a server: the desk that speaks to it, and what both sides of the wire have in common."""
