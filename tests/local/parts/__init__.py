"""Tests of local.parts."""
