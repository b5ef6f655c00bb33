"""Planted bugs of exchanged secrets and of sessions that are charged once."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "ledger/integrity/vault_secret.py",
        "self.key(purpose) for purpose in PURPOSES",
        "keys.derive(new, purpose) for purpose in PURPOSES",
        "after an exchange of the secret a copy of known people gets an account of its own",
        ("curator/test_rotation.py::test_a_copy_of_the_same_people_gets_no_account_of_its_own_afterwards",),
    ),
    SourceMutant(
        "ask/runner.py",
        "{engine.version} {engines.order}",
        "{engine.version}",
        "a question that was begun in one order of rows is drawn for again in another",
        ("curator/test_rotation.py::test_a_question_that_was_begun_in_one_order_is_not_drawn_for_in_another",),
    ),
    SourceMutant(
        "ledger/rotation.py",
        "            ended = self._end_draws(transaction)",
        "            ended = RotatedSecret(0, 0)",
        "an exchange of the secret leaves what had died to be drawn for again",
        ("ledger/integrity/test_secret.py::test_what_had_died_unanswered_is_settled_as_failed_and_is_not_given_back",),
    ),
    SourceMutant(
        "ledger/rotation.py",
        "        self.verify()\n        new",
        "        new",
        "rows that were changed under the old secret are sealed anew",
        ("ledger/integrity/test_secret.py::test_a_row_that_was_sealed_with_a_stolen_secret_gets_no_new_seal",),
    ),
]
