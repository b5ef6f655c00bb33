"""Tests of account.losses."""
