"""Tests of engines.duckdb."""
