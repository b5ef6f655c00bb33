"""Tests of mechanisms.parts."""
