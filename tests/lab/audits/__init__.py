"""Tests of lab.audits."""
