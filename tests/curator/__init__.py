"""Tests of the curator: vaults, policies, lint; sessions, questions and answers."""
