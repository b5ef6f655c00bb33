"""Planted bugs of `lab`: audits that find nothing, and proofs that prove too much."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "lab/defence.py",
        "return None if epsilon is None else min(1.0, (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon)))",
        "return None if epsilon is None else min(1.0, 1 / (1 + math.exp(-epsilon)))",
        "the ceiling of a success forgets delta",
        ("lab/test_defence.py::test_the_ceiling_is_the_better_guess",),
    ),
    SourceMutant(
        "lab/defence.py",
        "kept = uniform(10**6, len(values)) < round(self.share * 10**6)",
        "kept = uniform(10**6, len(values)) <= 10**6",
        "a sampled table is the whole table",
        ("lab/test_defence.py::test_a_sample_is_drawn_once_and_scaled_up",),
    ),
    SourceMutant(
        "lab/rand.py",
        'return person("zper", max_rows=5)',
        'return person("zper", max_rows=1)',
        "people of the demonstration are protected for one of their years",
        ("lab/test_rand.py",),
    ),
]
