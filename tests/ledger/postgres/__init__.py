"""Tests of ledger.postgres."""
