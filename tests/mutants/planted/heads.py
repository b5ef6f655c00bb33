"""Planted bugs of `ledger`: heads that are kept outside, frozen vaults, seals, certificates, custody."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "ledger/integrity/seal.py",
        'f"s{len(value)}:{value}" if type(value) is str',
        'f"s:{value}" if type(value) is str',
        "two rows with the same characters in other fields have one seal",
        ("ledger/integrity/test_seal.py",),
    ),
    SourceMutant(
        "ledger/integrity/seal.py",
        "        if not rows and seal is None:\n            return",
        "        if not rows:\n            return",
        "a row that is removed is not missed",
        (
            "ledger/integrity/test_seal.py",
            "ledger/test_rows.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/seal.py",
        "self._at = max(self._at, at)",
        "self._at = at",
        "an entry may be dated before the one before it",
        (
            "ledger/test_clock.py",
            "ledger/integrity/test_seal.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/seal.py",
        'if f"{total % _MODULUS:064x}" != root.total:',
        'if f"{total % _MODULUS:064x}"[:0] != root.total[:0]:',
        "a row that was put back with its seal is not found by verifying",
        (
            "ledger/integrity/test_seal.py",
            "ledger/integrity/test_verify.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/anchor.py",
        "older = found.index(min(found))",
        "older = found.index(max(found))",
        "the newest head in an anchor is written over first",
        (
            "ledger/integrity/test_anchor.py",
            "ledger/test_lost.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/anchor.py",
        "            if found[older] < head.sequence:  # another process may have come by with a newer one\n                os.lseek",
        "            if found:\n                os.lseek",
        "a slow process writes an older head over a newer one",
        (
            "ledger/integrity/test_anchor.py",
            "ledger/test_race.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/verify.py",
        "        check_heads(live, again, vouched)\n",
        "",
        "verifying asks no anchor",
        (
            "ledger/integrity/test_verify.py",
            "ledger/integrity/test_anchor.py",
            "ledger/test_lost.py",
        ),
    ),
    SourceMutant(
        "ledger/integrity/freeze.py",
        "if head.sequence > upto and not on_chain(transaction, head)]",
        "if head.sequence > upto + 1 and not on_chain(transaction, head)]",
        "the first head after those that were forfeited is ignored",
        ("ledger/integrity/test_freeze.py::test_heads_are_forfeited_up_to_the_entry_that_is_said_and_no_further",),
    ),
    SourceMutant(
        "ledger/integrity/freeze.py",
        "return there is not None and there.hash == head.hash",
        "return there is not None",
        "a head is compared with the chain by its number alone",
        ("ledger/integrity/test_freeze.py::test_a_copy_that_went_another_way_is_frozen_by_the_heads_of_the_first",),
    ),
    SourceMutant(
        "ledger/integrity/freeze.py",
        "missing = lost(transaction, [*heads, *shown(transaction)])",
        "missing = lost(transaction, [*heads])",
        "a head that was shown once is forgotten by the next process",
        ("ledger/integrity/test_freeze.py::test_a_head_that_was_shown_once_freezes_the_vault_for_every_process",),
    ),
    SourceMutant(
        "ledger/integrity/anchor.py",
        "found = self._slots_of(file, lambda each: each == head or on_chain(each))",
        "found = self._slots_of(file, lambda each: True)",
        "an anchor of another history is written over",
        (
            "ledger/integrity/test_witnesses.py::test_a_place_vouches_for_its_newest_head_and_takes_none_of_another_history",
        ),
    ),
    SourceMutant(
        "ledger/integrity/anchor_log.py",
        "last = self._check(file, lambda each: each == head or on_chain(each))",
        "last = self._check(file, lambda each: True)",
        "a log of another history is written on",
        (
            "ledger/integrity/test_witnesses.py::test_a_place_vouches_for_its_newest_head_and_takes_none_of_another_history",
        ),
    ),
    SourceMutant(
        "ledger/integrity/anchor_log.py",
        "for each in reversed(lines)",
        "for each in lines",
        "a log vouches for its oldest head",
        (
            "ledger/integrity/test_witnesses.py::test_a_place_vouches_for_its_newest_head_and_takes_none_of_another_history",
        ),
    ),
    SourceMutant(
        "ledger/integrity/witnesses.py",
        "        for each in self.places:\n            each.check(on_chain)",
        "        for each in self.places[:1]:\n            each.check(on_chain)",
        "only the first place of a vault's heads is asked before a commit",
        ("ledger/integrity/test_freeze.py::test_whatever_place_holds_another_head_nothing_is_committed",),
    ),
    SourceMutant(
        "ledger/integrity/witnesses.py",
        "found = {each.place for place in self.places for each in place.anchors()}",
        "found = {each.place for place in self.places[:1] for each in place.anchors()}",
        "only the first place of a vault's heads is looked at",
        ("ledger/integrity/test_freeze.py::test_one_anchor_is_enough_to_freeze_an_older_copy",),
    ),
    SourceMutant(
        "ledger/integrity/witnesses.py",
        "        for each in self.places:\n            each.write(head, on_chain)",
        "        for each in self.places[:1]:\n            each.write(head, on_chain)",
        "a head is written to one place alone",
        ("ledger/integrity/test_witnesses.py::test_every_place_has_every_head",),
    ),
    SourceMutant(
        "ledger/integrity/verify.py",
        "if head.sequence <= upto or freeze.on_chain(live, head):",
        "if head.sequence <= upto + 1 or freeze.on_chain(live, head):",
        "verifying overlooks the first head after those that were forfeited",
        ("ledger/integrity/test_freeze.py::test_heads_are_forfeited_up_to_the_entry_that_is_said_and_no_further",),
    ),
    SourceMutant(
        "ledger/integrity/verify.py",
        'if body["at"] < at and entry.kind != "clock":',
        'if body["at"] < at and entry.kind == "vault":',
        "entries dated backwards verify, so that a window opens twice",
        ("ledger/test_clock.py::test_an_entry_dated_before_the_one_before_it_is_found",),
    ),
    SourceMutant(
        "ledger/integrity/certificate.py",
        'for name, kind in (("entry", "charge"), ("settled", "settle")):',
        'for name, kind in (("entry", "charge"),):',
        "a certificate's answer is not compared with the chain",
        (
            "ledger/integrity/test_certificate.py::test_entries_that_are_not_on_the_chain_are_refused_even_where_they_are_signed",
        ),
    ),
    SourceMutant(
        "ledger/integrity/settled_release.py",
        "if paper is not None and paper.sequence < before:",
        "if paper is not None:",
        "a certificate says what is declared now, not what was when it was released",
        ("ledger/integrity/test_certificate.py::test_declarations_are_those_of_the_time_of_the_release",),
    ),
    SourceMutant(
        "ledger/integrity/settled_release.py",
        'deltas = (*DELTAS, exact["delta"]) if exact["delta"] else DELTAS',
        "deltas = DELTAS",
        "a certificate leaves out the delta of the account's own budget",
        (
            "ledger/integrity/test_certificate.py::test_a_certificate_has_the_figure_at_the_delta_of_the_accounts_own_budget",
        ),
    ),
    SourceMutant(
        "ledger/custody.py",
        "elif not same_budget(limit.filter_in(there), filter_):",
        "elif False:",
        "an account is opened again with another budget",
        ("ledger/test_limit.py::test_an_account_is_opened_once_and_its_promise_is_not_changed",),
    ),
    SourceMutant(
        "ledger/custody.py",
        "if grant.outlives(datetime.fromisoformat(transaction.root().at)):",
        "if False:",
        "a grant that has expired opens again when the clock is set back",
        ("ledger/test_clock.py::test_a_grant_that_was_refused_for_its_age_stays_refused_though_nothing_else_happened",),
    ),
]
