"""Planted bugs: small changes of the source that would break a promise, each with the tests that notice it."""
