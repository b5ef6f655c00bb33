"""Measures: the aggregates of a question: what each asks of the engine, how it becomes noisy, and its words."""
