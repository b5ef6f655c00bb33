"""Budgets: filters, odometers, prices, calibration and the composition theorems by name."""
