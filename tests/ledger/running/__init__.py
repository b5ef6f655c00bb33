"""Tests of running releases."""
