"""Artefacts: files that are published with an answer and lie beside the vault."""
