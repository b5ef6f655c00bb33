"""Tests of curator.local."""
