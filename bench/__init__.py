"""Benchmarks: what Discreet costs, and its ratio to its peers measured in the same run."""
