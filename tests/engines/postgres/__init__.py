"""Tests of engines.postgres."""
