"""Mutants: deliberately broken mechanisms, each with its bug stated, that the auditor has to find."""

from tests.lab.mutants import choice, groups, neighbours, noise, values

MUTANTS = [*noise.MUTANTS, *neighbours.MUTANTS, *values.MUTANTS, *choice.MUTANTS, *groups.MUTANTS]
