"""Planted bugs of `local`: chances of reports, and who pays for them."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "local/grid.py",
        'share = Decimal(ONE) / (odds * (1 - Decimal("1e-60")) + others)\n    return Fraction(math.ceil(share), ONE)',
        'share = Decimal(ONE) / (odds * (1 - Decimal("1e-60")) + others)\n    return Fraction(math.floor(share), ONE)',
        "the chance of a lie is rounded down",
        ("local/test_conformance.py::test_it_is_a_frozen_value_that_its_spec_describes",),
    ),
    SourceMutant(
        "local/protocols/randomized_response.py",
        "each = Fraction(math.ceil((1 - chance) / (size - 1) * ONE), ONE)",
        "each = Fraction(math.floor((1 - chance) / (size - 1) * ONE), ONE)",
        "the stated truth of a survey is exceeded",
        (
            "local/protocols/test_randomized_response.py::test_truths_that_are_not_dyadic_are_rounded_to_the_private_side",
        ),
    ),
    SourceMutant(
        "local/protocols/unary.py",
        "        flipped = lie(exact / 2)\n",
        "        flipped = lie(exact)\n",
        "both bits of a symmetric report cost all of its epsilon",
        ("local/test_conformance.py::test_it_is_a_frozen_value_that_its_spec_describes",),
    ),
    SourceMutant(
        "local/protocols/hadamard.py",
        "signs ^= np.unpackbits(coins, count=count)",
        "signs ^= np.unpackbits(coins, count=count) & (rows & 1).astype(np.uint8)",
        "signs of even rows are never turned over",
        ("local/test_conformance.py::test_reports_have_the_exact_distribution",),
    ),
    SourceMutant(
        "local/secure_sum.py",
        "return self.bound if self.length == 1 else 2 * self.bound",
        "return self.bound",
        "a vector of a secure sum moves by one person's counts, not by two",
        ("local/test_secure_sum.py::test_the_loss_is_that_of_a_trusted_centre",),
    ),
    SourceMutant(
        "local/longitudinal.py",
        "today = max(self.clock().isoformat(), entry.day)",
        "today = self.clock().isoformat()",
        "a clock that is set back begins a new day of reports",
        ("local/test_longitudinal.py::test_a_day_has_its_limit_and_a_clock_set_back_begins_no_new_one",),
    ),
    SourceMutant(
        "local/longitudinal.py",
        "if known is not None and cap > known.lifetime:",
        "if known is not None and cap > 2 * known.lifetime:",
        "a lifetime budget may double",
        ("local/test_longitudinal.py::test_a_lifetime_never_rises_and_what_was_spent_stays_spent",),
    ),
    SourceMutant(
        "local/longitudinal.py",
        'about = f"discreet.local seen {topic} {protocol.spec_hash} {plain!r}"',
        'about = f"discreet.local seen {topic} {plain!r}"',
        "a value that was reported under one protocol is free under another",
        ("local/test_longitudinal.py::test_a_lifetime_never_rises_and_what_was_spent_stays_spent",),
    ),
    SourceMutant(
        "local/shuffle.py",
        "    if len(reports) < least:\n",
        "    if len(reports) < least - 1:\n",
        "a batch of one report too few is shuffled",
        ("local/test_shuffle.py::test_a_batch_below_the_minimum_is_held_back_whole",),
    ),
    SourceMutant(
        "local/poisoning.py",
        "chance = min(1.0, 2 * trials * math.exp(-most / 2))",
        "chance = min(1.0, trials * math.exp(-most / 2))",
        "fakes are flagged at half the chance of a false alarm",
        ("local/test_poisoning.py::test_a_part_of_fakes_is_flagged_and_honest_parts_are_not",),
    ),
    SourceMutant(
        "local/parts/interval.py",
        "exact[part] = _exact(wanted[part], guess[part], n, p, q, beta / 2, side)",
        "exact[part] = _exact(wanted[part], guess[part], n, p, q, beta, side)",
        "exact intervals of few reports miss twice as often",
        ("local/parts/test_interval.py::test_intervals_cover_every_fixed_count_by_the_exact_law",),
    ),
]
