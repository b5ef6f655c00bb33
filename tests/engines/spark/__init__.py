"""Tests of engines.spark."""
