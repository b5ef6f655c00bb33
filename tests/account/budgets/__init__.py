"""Tests of account.budgets."""
