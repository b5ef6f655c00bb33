"""Tests of ledger.sqlite."""
