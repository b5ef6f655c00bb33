"""Planted bugs of `serve`: batches that count twice, secrets that stay."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "serve/sqlite_sketches.py",
        "            if new.rowcount == 0:\n",
        "            if new.rowcount < 0:\n",
        "a batch that is sent again counts again",
        ("serve/test_sketches.py",),
    ),
    SourceMutant(
        "serve/sqlite_sketches.py",
        '                connection.execute("DELETE FROM seen")\n',
        "",
        "hashes of senders' keys stay when a collection is closed",
        ("serve/test_sketches.py",),
    ),
    SourceMutant(
        "serve/sqlite_sketches.py",
        "                connection.execute(\"DELETE FROM about WHERE name = 'secret'\")\n",
        "",
        "the secret of a store stays when its collection is closed",
        ("serve/test_sketches.py",),
    ),
    SourceMutant(
        "serve/sqlite_sketches.py",
        '("secret", secrets.token_bytes(SECRET_BYTES))',
        '("secret", bytes(SECRET_BYTES))',
        "senders' keys are hashed under a secret that everyone knows",
        ("serve/test_sketches.py",),
    ),
    SourceMutant(
        "serve/sketches.py",
        "return blake2b(key, key=secret, digest_size=_HASH_BYTES).digest()",
        "return blake2b(key, digest_size=_HASH_BYTES).digest()",
        "senders' keys are hashed without the secret",
        ("serve/test_sketches.py::test_the_hash_of_a_senders_key_depends_on_the_secret_of_the_store",),
    ),
    SourceMutant(
        "serve/receive.py",
        "        if batch.epoch >= self.collection.epochs:\n",
        "        if batch.epoch > self.collection.epochs:\n",
        "a batch of an epoch that does not exist is taken",
        ("serve/test_receive.py",),
    ),
    SourceMutant(
        "serve/receive.py",
        "        if batch.spec != self.spec:\n",
        "        if len(batch.spec) != len(self.spec):\n",
        "reports that were made for another protocol are counted",
        ("serve/test_receive.py",),
    ),
]
