"""Tests of sources and engines."""
