"""Spark: tables that outgrow one machine."""
