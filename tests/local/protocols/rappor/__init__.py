"""Tests of local.protocols.rappor."""
