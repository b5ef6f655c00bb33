"""Planted bugs of `plan`: people who reach further than was derived, and rows that decide more than themselves."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "plan/stability.py",
        "return unit, ours + theirs",
        "return unit, max(ours, theirs)",
        "a person in both sides of a union counts for one",
        ("plan/test_stability.py::test_a_public_join_multiplies_rows_but_not_people_bounded_after_it",),
    ),
    SourceMutant(
        "plan/stability.py",
        "return unit, rows * joined.fan_out(theirs for _, theirs in on)",
        "return unit, rows",
        "a join that repeats rows leaves their number as it was",
        ("plan/test_stability.py::test_a_public_join_multiplies_rows_but_not_people_bounded_after_it",),
    ),
    SourceMutant(
        "plan/stability.py",
        "rows = _reached(unit, ours) * kept\n",
        "rows = _reached(unit, ours)\n",
        "a person's rows that meet several partners count once",
        ("plan/test_stability.py::test_a_join_of_people_reaches_as_far_as_their_rows_in_both_tables",),
    ),
    SourceMutant(
        "plan/stability.py",
        "l0=2 * found.l0 if groups else 1, linf=2 * found.linf, l1=2 * found.l1,",
        "l0=2 * found.l0 if groups else 1, linf=2 * found.linf, l1=found.l1,",
        "a person who is replaced reaches as far as one who is added",
        ("plan/test_stability.py::test_a_scan_is_as_stable_as_its_unit_says",),
    ),
    SourceMutant(
        "plan/to_sql/person_bounds.py",
        'return select("*", select(("*", rank), sql), where=f"{RANK} <= {most}")\n\n\ndef first_groups',
        'return select("*", select(("*", rank), sql), where=f"{RANK} <= {most} + 1")\n\n\ndef first_groups',
        "a person keeps one row more than was declared",
        ("ask/test_synthesize.py::test_a_person_with_many_rows_counts_for_a_few_and_for_the_same_ones_everywhere",),
    ),
    SourceMutant(
        "plan/to_sql/person_bounds.py",
        'by = ", ".join((KEY, *groups))\n    rank',
        "by = KEY\n    rank",
        "groups that tie in the secret order let one more in",
        ("plan/to_sql/test_person_bounds.py::test_groups_that_tie_in_the_order_are_told_apart_by_themselves",),
    ),
    SourceMutant(
        "plan/to_sql/person_bounds.py",
        'return f"CASE WHEN {rows} <= {ALLOTTED} THEN {total} ELSE {part} END"',
        "return total",
        "a person's sums are not scaled down to their share of rows",
        (
            "plan/to_sql/test_person_bounds.py::test_sums_are_exact_on_both_sides_of_the_width_at_which_they_share_with_their_count",
        ),
    ),
    SourceMutant(
        "plan/to_sql/marginals.py",
        "rows = first_rows(ordered(rows, numbers, asked.people, dialect), asked.reach)",
        "rows = first_rows(ordered(rows, numbers, asked.people, dialect), asked.reach + 1)",
        "marginals keep a row more of each person than their noise covers",
        ("ask/test_synthesize.py::test_a_person_with_many_rows_counts_for_a_few_and_for_the_same_ones_everywhere",),
    ),
    SourceMutant(
        "plan/to_sql/marginals.py",
        'if not asked.unit.is_row and asked.unit.bound == "query":',
        'if not asked.unit.is_row and asked.unit.bound == "query" and asked.reach > 1:',
        "marginals of people with one row each keep all rows of a person",
        ("ask/test_synthesize.py::test_a_person_with_many_rows_counts_for_a_few_and_for_the_same_ones_everywhere",),
    ),
]
