"""RAPPOR's published client: the same bits for the same secret, cohort and string.

The vectors are those of the public repository google/rappor (Apache 2.0): client/python/rappor_test.py (testEncoder),
analysis/tools/hash_candidates_test.py (testHash) and client/cpp/encoder_unittest.cc (cohorts). The reports that the
last file expects cannot be checked: its test passes the encoder a name whose memory was freed before.
"""

import hashlib
import hmac

import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.protocols.rappor.bloom import published_places
from discreet.local.protocols.rappor.client import instantaneous, masks, published_cohort
from discreet.noise.bits import BitSource

# Candidate -> numbers of the bits it sets in four cohorts of 16 bits, from 1 on, as the published map file has them.
PUBLISHED_MAP = {
    "apple": [5, 1, 26, 26, 38, 34, 63, 62],
    "banana": [12, 14, 28, 24, 37, 34, 62, 49],
    "carrot": [4, 12, 25, 21, 48, 38, 61, 54],
}


class Cycle(BitSource):
    """The published test's randomness: 0, 0.6, 0 again and again, compared with p and with q."""

    def words(self, count, bits):
        import numpy as np

        return np.array([int((0, 0.6, 0)[at % 3] * 2**bits) for at in range(count)])


def test_the_published_encoder_vector_is_reproduced():
    made = local.rappor(16, 2, 64, 0.5, 0.5, 0.75, published=True)
    client = made.client({"rappor key": b"secret"}, cohort=0)
    assert instantaneous(client.permanent("abc"), made, Cycle()) == 64493


@pytest.mark.parametrize("word", PUBLISHED_MAP)
def test_the_published_map_of_candidates_is_reproduced(word):
    made = local.rappor(16, 2, 4, published=True)
    found = [16 * cohort + place + 1 for cohort, row in enumerate(made.places([word])[0].tolist()) for place in row]
    assert found == PUBLISHED_MAP[word]


def test_the_published_cohorts_are_reproduced():
    assert published_cohort(b"client-secret", 128) == 3
    assert local.rappor(32, 2, 128, published=True).client({"rappor key": b"client-secret"}).cohort == 3
    with pytest.raises(BadParameter, match="powers of two"):
        published_cohort(b"client-secret", 100)


@pytest.mark.parametrize("cohort", [0, 1, 63, 2**31])
@pytest.mark.parametrize("bits", [8, 13, 32])
def test_bloom_bits_are_bytes_of_md5_with_the_cohort_before_in_big_endian(cohort, bits):
    digest = hashlib.md5(cohort.to_bytes(4, "big") + "zażółć".encode()).digest()
    assert published_places("zażółć".encode(), cohort, 16, bits) == tuple(byte % bits for byte in digest)


@pytest.mark.parametrize(("f", "threshold"), [(0, 0), (0.1, 13), (0.5, 64), (0.99, 127)])
def test_masks_are_bytes_of_an_hmac_of_the_filter(f, threshold):
    made = local.rappor(32, 2, 64, f, 0.25, 0.75, published=True)
    client = made.client({"rappor key": b"secret"}, cohort=7)
    stream = hmac.new(b"secret", client.bloom("abc").to_bytes(4, "big"), hashlib.sha256).digest()
    expected = client.bloom("abc")
    for at, byte in enumerate(stream):
        if byte >> 1 < threshold:
            expected = expected & ~(1 << at) | (byte & 1) << at
    assert client.permanent("abc") == expected
    uniform, mask = masks(b"secret", client.bloom("abc").to_bytes(4, "big"), threshold, 32)
    assert client.permanent("abc") == client.bloom("abc") & ~mask | uniform & mask
    assert made.f * 128 == threshold


def alike(made):
    """Two words that set the same bits in cohort 0."""
    client = made.client(bytes(32), cohort=0)
    words = [f"word {at}" for at in range(40)]
    return next((a, b) for a in words for b in words if a < b and client.bloom(a) == client.bloom(b))


def test_values_of_one_filter_have_permanent_answers_of_their_own():
    # Two histories of two values each: were answers those of filters, unequal ones would rule out values of one filter.
    made = local.rappor(8, 1, 1, 0.5, 0, 1)
    first, second = alike(made)
    clients = [made.client(bytes([at] * 32), cohort=0) for at in range(64)]
    # Eight bits of which each differs with probability 2 (1/4)(3/4): all alike in 64 clients has a chance below 1e-100.
    assert any(client.permanent(first) != client.permanent(second) for client in clients)
