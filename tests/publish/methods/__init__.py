"""Tests of publish.methods."""
