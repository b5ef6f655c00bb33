"""Planted bugs of `ask`: prices that leave a part out, units that reach too little, accounts that do not pay."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "ask/priced.py",
        "parts += [each.loss for each in (self.selection, self.bound) if each is not None]",
        "parts += [each.loss for each in (self.bound,) if each is not None]",
        "the private selection of keys, and its delta, are never paid",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        "parts += [each.loss for each in (self.selection, self.bound) if each is not None]",
        "parts += [each.loss for each in (self.selection,) if each is not None]",
        "the bound on rows that is bought is never paid",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        'groups = reach.groups if unit.relation == "add_remove" else -(-reach.groups // 2)',
        'groups = 1 if unit.relation == "add_remove" else -(-reach.groups // 2)',
        "keys are selected as if a person had one",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        'groups = reach.groups if unit.relation == "add_remove" else -(-reach.groups // 2)',
        'groups = reach.groups if unit.relation == "add_remove" else -(-reach.groups // 4)',
        "keys under replace are selected as if a person had half of their groups",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        "selection = KeySelection(epsilon=epsilon, delta=delta, groups=groups, relation=unit.relation)",
        "selection = KeySelection(epsilon=epsilon, delta=delta, groups=groups)",
        "keys under replace are selected by the rule for adding and removing",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        "return selection, replace(rest.share(1 - share), delta=rest.delta - delta)",
        "return selection, replace(rest.share(1 - share), delta=rest.delta)",
        "the delta of a selection is spent again by Gaussian noise",
        ("ask/test_covered.py::test_the_delta_of_a_selection_is_not_spent_again_by_gaussian_noise",),
    ),
    SourceMutant(
        "ask/priced.py",
        "rest = price if bound is None else price.share(1 - AUTO)",
        "rest = price",
        "the bound on rows comes on top of the price that was asked",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/priced.py",
        "return replace(unit, max_rows=max_rows, max_groups=min(unit.max_groups, max_rows))",
        "return replace(unit, max_groups=min(unit.max_groups, max_rows))",
        "a lower bound on rows narrows the noise and leaves the rows",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/synthesize.py",
        "allowance = _allowance(price, reach.rows)",
        "allowance = _allowance(price, 1)",
        "synthetic data of people has noise for one row of each",
        ("ask/test_synthesize.py::test_what_is_charged_is_what_the_noise_is_made_for",),
    ),
    SourceMutant(
        "ask/synthesize.py",
        "return under(self.allowance.loss, self.unit.relation)",
        'return under(self.allowance.loss, "add_remove")',
        "synthetic data under replace is charged under another relation",
        ("ask/test_synthesize.py::test_what_is_charged_is_what_the_noise_is_made_for",),
    ),
    SourceMutant(
        "ask/pmw.py",
        'rows = reach.rows // 2 if unit.relation == "replace" else reach.rows',
        "rows = 1",
        "sessions of weights have noise for one row of a person",
        ("ask/test_pmw.py::test_people_count_for_their_rows_in_every_noise",),
    ),
    SourceMutant(
        "ask/partition.py",
        "return parallel(*losses) * met",
        "return parallel(*losses)",
        "a person who lies in several parts pays for one",
        ("ask/test_partition.py::test_the_parts_of_joined_rows_cost_as_many_as_one_row_becomes",),
    ),
    SourceMutant(
        "ask/partition.py",
        "draws.part(str(place))",
        "draws.part(str(0)) if place == 0 else type(draws)(draws._key)",
        "parts of a partition share their noise",
        ("ask/test_partition.py::test_every_part_draws_noise_of_its_own",),
    ),
    SourceMutant(
        "ask/programme.py",
        "return replace(at, keys=at.keys.chosen(kept[: at.keys.room]))",
        """from discreet.core.doors import opened

        return replace(at, keys=at.keys.chosen(sorted(kept, key=lambda key: -opened(found)[key])[: at.keys.room]))""",
        "selected keys are listed by their exact counts",
        ("ask/test_covered.py::test_selected_keys_come_in_their_own_order_whatever_their_counts",),
    ),
    SourceMutant(
        "ask/release.py",
        "losses=dict.fromkeys(query.accounts, loss),",
        "losses=dict.fromkeys(query.accounts[:1], loss),",
        "only the first account of a question is charged",
        ("ask/test_covered.py",),
    ),
    SourceMutant(
        "ask/release.py",
        "        session.check(registered)  # rows that changed meanwhile answered for no version\n",
        "",
        "rows that changed while they were read answer for a version that they are not",
        ("ask/test_release.py::test_a_table_declared_anew_while_the_engine_works_gives_no_answer",),
    ),
]
