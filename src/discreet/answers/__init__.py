"""Answers: values with error bars, their intervals, arithmetic, exports and pictures; all of it post-processing."""
