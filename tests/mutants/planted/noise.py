"""Planted bugs of `noise`: laws that are nearly the stated ones, and streams that meet."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "noise/gaussian.py",
        'return draw("gaussian", positive("sigma", sigma), size, Bins, rejection.gaussian)',
        """found = draw("gaussian", positive("sigma", sigma), size, Bins, rejection.gaussian)
    if isinstance(found, int):
        return max(min(found, int(6 * sigma) + 1), -int(6 * sigma) - 1)
    return found.clip(-int(6 * sigma) - 1, int(6 * sigma) + 1)""",
        "the tail of Gaussian noise is cut at six sigma",
        ("noise/test_tails.py",),
    ),
    SourceMutant(
        "noise/laplace.py",
        'return draw("laplace", positive("scale", scale), size, _tables, rejection.laplace)',
        """found = draw("laplace", positive("scale", scale), size, _tables, rejection.laplace)
    if isinstance(found, int):
        return max(min(found, int(20 * scale) + 20), -int(20 * scale) - 20)
    return found.clip(-int(20 * scale) - 20, int(20 * scale) + 20)""",
        "the tail of Laplace noise is cut at twenty scales",
        ("noise/test_tails.py",),
    ),
    SourceMutant(
        "noise/laplace.py",
        'return draw("laplace", positive("scale", scale), size, _tables, rejection.laplace)',
        'return draw("laplace", positive("scale", scale), size, _tables, rejection.geometric)',
        "Laplace noise that is drawn by rejection has no sign",
        ("noise/test_tails.py::test_what_rejection_gives_is_handed_on_as_it_is",),
    ),
    SourceMutant(
        "noise/draws.py",
        '_derived(self._key, "label", label)',
        '_derived(self._key, "label", "")',
        "all labels of a debit draw the same noise",
        ("noise/test_draws.py::test_other_keys_labels_and_parts_give_other_bits",),
    ),
    SourceMutant(
        "noise/draws.py",
        "        self._used.add(label)\n",
        "",
        "a label is drawn from twice, with the same noise",
        ("noise/test_draws.py::test_a_label_and_a_part_are_used_once",),
    ),
    SourceMutant(
        "noise/draws.py",
        'return Draws(_derived(self._key, "part", name), self._check)',
        "return Draws(self._key)",
        "the parts of a debit draw the same noise",
        ("noise/test_draws.py::test_other_keys_labels_and_parts_give_other_bits",),
    ),
    SourceMutant(
        "noise/draws.py",
        'return hmac.digest(self._key, self._calls.to_bytes(8, "big"), sha256)[:size]',
        'return hmac.digest(self._key, (0).to_bytes(8, "big"), sha256)[:size]',
        "a long substream repeats itself",
        ("noise/test_draws.py::test_a_substream_that_outlives_its_key_goes_on_with_another",),
    ),
    SourceMutant(
        "noise/sampling.py",
        "    if fixed and wanted < _WORTH:\n        return None\n",
        "",
        "what a debit draws depends on what the process has drawn before",
        ("noise/test_draws.py::test_neither_a_cold_nor_a_warm_cache_changes_what_is_drawn",),
    ),
    SourceMutant(
        "noise/bernoulli.py",
        "return int(rejection.bernoulli(current(), (top, bottom)))",
        "return int(rejection.bernoulli(current(), (top * 1000 // bottom, 1000)))",
        "a coin's bias is rounded to a thousandth",
        ("noise/test_bernoulli.py::test_a_single_coin_is_tossed_with_exactly_its_bias",),
    ),
]
