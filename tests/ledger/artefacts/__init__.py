"""Tests of published files."""
