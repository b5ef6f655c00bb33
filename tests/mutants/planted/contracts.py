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
    SourceMutant(
        "ask/watches/watch.py",
        "            sensitivity=most,",
        "            sensitivity=1,",
        "a watch has noise for one row of a person",
        ("ask/watches/test_watch_truth.py::test_comparisons_and_answers_together_cost_what_is_charged",),
    ),
    SourceMutant(
        "ask/watches/watch.py",
        'monotone=relation == "add_remove"',
        "monotone=True",
        "counts that move in both directions under replace have the noise of those that move in one",
        ("ask/watches/test_watch_truth.py::test_comparisons_and_answers_together_cost_what_is_charged",),
    ),
    SourceMutant(
        "ask/watches/watch.py",
        "epsilon=price.epsilon * (1 - share)",
        "epsilon=price.epsilon",
        "the noisy answers of a watch cost more than its price",
        ("ask/watches/test_watch_truth.py::test_comparisons_and_answers_together_cost_what_is_charged",),
    ),
    SourceMutant(
        "ask/watches/watch.py",
        'sensitivity = rows if relation == "add_remove" else -(-rows // 2)',
        "sensitivity = 1",
        "running totals have noise for one row of a person",
        ("ask/watches/test_watch_truth.py::test_running_totals_cost_what_is_charged",),
    ),
    SourceMutant(
        "mechanisms/counter.py",
        "return self.levels * self._moved / self.epsilon",
        "return self.levels * self.sensitivity / self.epsilon",
        "running totals under replace have noise for the row that leaves alone",
        ("ask/watches/test_watch_truth.py::test_running_totals_cost_what_is_charged",),
    ),
    SourceMutant(
        "ask/watches/watch.py",
        'if not (unit.is_row or unit.bound == "table"):',
        "if False:",
        "a person may be in every increment of a counter with all their rows",
        ("ask/verbs/test_watch.py::test_noise_is_for_all_rows_of_a_person_and_a_counter_needs_rows_bounded_once",),
    ),
    SourceMutant(
        "ledger/integrity/keys.py",
        "if public in self.retired else True",
        "if public in self.retired else False",
        "of two copies that share an anchor both go on once one has exchanged its key",
        (
            "ledger/integrity/test_witnesses.py::test_a_place_holds_still_whoever_does_not_know_the_key_that_another_signs_with",
        ),
    ),
    SourceMutant(
        "ledger/integrity/keys.py",
        "return sequence <= self.retired[public] if",
        "return True if",
        "a key that was exchanged goes on vouching for heads",
        ("ledger/integrity/test_witnesses.py::test_an_exchanged_key_vouches_for_nothing_afterwards",),
    ),
]
