"""Tests of oversight."""
