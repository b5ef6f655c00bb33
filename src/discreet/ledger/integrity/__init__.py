"""Integrity of a vault: keys, seals, anchor, and the verification of all of it."""
