"""The words everything else is written in: units, schemas, refusals, registries. Standard library only."""
