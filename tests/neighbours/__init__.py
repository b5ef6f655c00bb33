"""Neighbours: two tables that differ by one row or one person, through every source, type and hostile value."""
