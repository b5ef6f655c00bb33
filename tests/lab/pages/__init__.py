"""Tests of lab.pages."""
