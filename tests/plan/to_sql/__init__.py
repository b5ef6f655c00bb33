"""Tests of plan.to_sql."""
