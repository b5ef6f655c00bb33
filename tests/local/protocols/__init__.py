"""Tests of local.protocols."""
