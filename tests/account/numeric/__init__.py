"""Tests of account.numeric."""
