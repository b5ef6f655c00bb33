"""Tests of ledger.integrity."""
