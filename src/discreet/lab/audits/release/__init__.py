"""Releases: a question released on made-up rows, heard from its text to its answer, and what that shows."""
