"""Tests of cli.shared."""
