"""Tests of what the release of a question shows."""
