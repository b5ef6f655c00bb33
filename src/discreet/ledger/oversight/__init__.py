"""Oversight: what custodians want to see of charges before and after they are made."""
