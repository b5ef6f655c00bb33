"""Planted bugs of `lab`: auditors and attacks that say too much, or nothing."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "lab/audits/release/choice_samples.py",
        "_OFTEN = {0.2: 1, 0.5: 4, 0.8: 1}",
        "_OFTEN = {0.2: 1, 0.5: 1, 0.8: 1}",
        "a selection that counts one person more is not seen at a small epsilon",
        (
            "lab/audits/release/test_choice_samples.py::test_a_key_that_counts_one_person_more_is_seen_at_a_small_epsilon",
        ),
    ),
    SourceMutant(
        "lab/audits/release/laws.py",
        "few = float(betaincc(self.hits + 1, self.trials - self.hits, self.chance.low))",
        "few = float(betaincc(self.hits + 1, self.trials - self.hits, self.chance.low)) / 4",
        "an audit accuses honest code more often than it says",
        (
            "lab/audits/release/test_laws.py::test_an_event_accuses_honest_draws_at_most_as_often_as_its_share_of_the_alarm",
        ),
    ),
    SourceMutant(
        "lab/report.py",
        "    if not outcomes and not skipped:\n",
        "    if not outcomes and skipped:\n",
        "an attack that found nothing to attack says nothing",
        ("lab/test_odd_tables.py::test_what_every_attack_says_of_an_odd_table_is_what_its_numbers_say",),
    ),
    SourceMutant(
        "lab/audits/neighbours.py",
        "range(1 + (place if up else min(len(found), _CROWD) - 1 - place))",
        "range(1 + place)",
        "groups whose exact numbers rise and fall rise in both tables of an audit",
        (
            "lab/audits/release/test_planted.py::test_an_order_that_follows_exact_numbers_is_seen_whichever_rows_are_made_up",
        ),
    ),
]
