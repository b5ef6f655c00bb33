"""Plots: answers, and error against price, as pictures."""
