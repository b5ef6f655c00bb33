"""Planted bugs of `curator`: rows that get a second budget, sources that are forgotten, accounts that are left out."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "curator/source_history.py",
        'return self.past if known or new.source.kind == "memory-copy" else (*self.past, new)',
        'return self.past if self.past or new.source.kind == "memory-copy" else (*self.past, new)',
        "only the first source of a vault is remembered",
        ("curator/test_source_history.py",),
    ),
    SourceMutant(
        "curator/source_history.py",
        "known = any((each.account, each.source) == (new.account, new.source) for each in self.past)",
        "known = any(each.name == new.name for each in self.past)",
        "a table's later sources are not remembered",
        ("curator/test_source_history.py",),
    ),
    SourceMutant(
        "curator/source_history.py",
        "digests = {digest: (registered.name, registered.account), **self.digests}",
        "digests = {**self.digests, digest: (registered.name, registered.account)}",
        "rows that come again change the account that pays for them",
        ("curator/test_source_history.py",),
    ),
    SourceMutant(
        "curator/source_history.py",
        "ledger.put(_KIND, _NAME, record, private=private, expected=self.edition)",
        "ledger.put(_KIND, _NAME, record, private=private, expected=ledger.list(_KIND)[0].revision if [*ledger.list(_KIND)] else 0)",
        "what another custodian has registered meanwhile is overwritten",
        ("curator/test_source_history.py",),
    ),
    SourceMutant(
        "curator/source_history.py",
        "return self.sketches[name] | sketches if name in self.sketches else sketches",
        "return sketches",
        "the people of a table's earlier versions are forgotten",
        ("curator/test_overlap.py::test_people_of_a_version_long_gone_are_still_known",),
    ),
    SourceMutant(
        "curator/accounts.py",
        "    if paying != registered.account:\n",
        "    if paying != registered.account and other == name:\n",
        "rows of another table get a second budget",
        ("curator/test_curator.py::test_a_copy_of_the_rows_is_refused_a_budget_of_its_own",),
    ),
    SourceMutant(
        "curator/accounts.py",
        "        if other.table.unit.relation != table.unit.relation:\n",
        "        if other.table.unit.relation != other.table.unit.relation:\n",
        "one account counts losses under two relations",
        ("curator/test_curator.py::test_tables_of_a_group_have_one_relation",),
    ),
    SourceMutant(
        "curator/accounts.py",
        '    for part in ("identifier", "relation"):\n',
        '    for part in ("relation",):\n',
        "a refresh changes who is protected",
        ("curator/test_curator.py::test_whom_a_table_protects_stays",),
    ),
]
