"""Watches: counts that are looked at one after the other, for one price."""
