"""Asking: queries, their price and preview, the release that pays and answers, and SQL."""
