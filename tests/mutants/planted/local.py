"""Planted bugs of `local`: coins a little off, noise dealt out among too many, stores that count twice."""

from tests.mutants.mutant import SourceMutant

COINS = "local/test_coins.py"

MUTANTS = [
    SourceMutant(
        "local/secure_sum.py",
        "share = Fraction(1, self.honest)",
        "share = Fraction(1, self.people)",
        "noise is dealt out among all people, and those who leave or collude take theirs away",
        (COINS,),
    ),
    SourceMutant(
        "local/secure_sum.py",
        "return self.honest + self.colluding",
        "return self.honest",
        "colluding people are counted among the honest ones that a sum needs",
        ("local/test_secure_sum.py::test_colluding_people_are_not_among_those_whose_noise_a_sum_needs",),
    ),
    SourceMutant(
        "local/secure_sum.py",
        "return self.bound if self.length == 1 else 2 * self.bound",
        "return self.bound",
        "a vector moves as little as a number when a person's counts are replaced",
        (COINS,),
    ),
    SourceMutant(
        "local/protocols/bit_flip.py",
        "coins = packed_bernoulli(source, numerator(self.lie), BITS, -(-buckets.size // 8))",
        "coins = packed_bernoulli(source, numerator(self.lie) * 98 // 100, BITS, -(-buckets.size // 8))",
        "answers of histograms lie two percent less often than stated",
        (COINS,),
    ),
    SourceMutant(
        "local/protocols/bit_flip.py",
        "fresh = packed_bernoulli(source, numerator(self.gamma), BITS, -(-bits.size // 8))",
        "fresh = packed_bernoulli(source, numerator(self.gamma) * 99 // 100, BITS, -(-bits.size // 8))",
        "reports of histograms are turned over one percent less often than stated",
        (COINS,),
    ),
    SourceMutant(
        "local/protocols/rappor/__init__.py",
        "zero, one = (int(chance * (1 << 64)) for chance in self.rates)",
        "zero, one = (int(chance * (1 << 64)) * place // 100 for chance, place in zip(self.rates, (99, 101)))",
        "first reports of RAPPOR are one percent more truthful than stated",
        (COINS,),
    ),
    SourceMutant(
        "local/protocols/rappor/__init__.py",
        "return int(self.f / 2 * _GRID)",
        "return int(self.f / 2 * _GRID) * 98 // 100",
        "permanent answers of RAPPOR are turned over two percent less often than stated",
        (COINS,),
    ),
    SourceMutant(
        "local/protocols/rappor/client.py",
        "return sum((word < parameters.ones[permanent >> at & 1]) << at for at, word in enumerate(words))",
        "return sum((word <= parameters.ones[permanent >> at & 1] + (1 << 26)) << at for at, word in enumerate(words))",
        "a client of RAPPOR reports ones more often than stated",
        (COINS,),
    ),
    SourceMutant(
        "local/parts/telemetry_client.py",
        "bits[0, at] ^= _coin(current(), own.gamma)",
        "bits[0, at] ^= _coin(self.stream(key, at), own.gamma)",
        "fresh coins of a remembering client are always the same",
        ("local/protocols/test_telemetry.py::test_a_client_of_histograms_keeps_buckets_and_answers",),
    ),
    SourceMutant(
        "local/grid.py",
        "return Fraction(math.ceil(share), ONE)",
        "return Fraction(math.floor(share), ONE)",
        "lies are rounded to the side of the truth",
        ("local/protocols/test_randomized_response.py::test_an_epsilon_is_kept_and_used_up",),
    ),
    SourceMutant(
        "local/collection.py",
        "return self.protocol.loss * self.epochs",
        "return self.protocol.loss",
        "a collection is billed for its first epoch alone",
        ("curator/test_bill.py::test_a_local_collection_is_billed_for_all_of_its_epochs",),
    ),
]
