"""The numerical accountant: dominating pairs, privacy-loss distributions, Renyi curves, safe rounding."""
