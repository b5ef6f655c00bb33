"""SQL out: a plan as the statements that an engine runs, whose answers are a few exact integers."""
