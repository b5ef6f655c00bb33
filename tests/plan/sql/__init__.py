"""Tests of SQL in."""
