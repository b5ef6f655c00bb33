"""Tests of local privacy."""
