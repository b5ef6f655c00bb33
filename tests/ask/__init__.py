"""Tests of ask."""
