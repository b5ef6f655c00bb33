"""Seals: a keyed hash of every stored row, looked at whenever the row is read.

A seal lies in a table of its own. A row that was changed does not fit it; one that was lost, or put back as it was,
does not take it along. Limits that a charge meets together have one seal. The root binds the seals to the chain.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby
from json.encoder import encode_basestring_ascii as _quoted
from operator import attrgetter
from typing import Any, cast

from discreet.core.value import replace
from discreet.ledger.entry import Entry, Head, as_stored
from discreet.ledger.integrity import keys
from discreet.ledger.refusals import Tampered
from discreet.ledger.statements import columns
from discreet.ledger.store import CARRYING, COUNTED, SHELVES, Limit, R, Raw, Root, Row, Seal, Secret, Wanted

Key = tuple[Any, ...]
Shelf = tuple[type[Row], Key]

_MODULUS = 2**256


class Sealer:
    """Makes seals with the vault's key for them.

    Guarantee: without the key no other rows are found that fit a seal (HMAC-SHA256 over the table's name and every
    field, each with its type and its length).
    """

    def __init__(self, secret: bytes) -> None:
        self._keyed = hmac.new(keys.derive(secret, "seals of rows"), digestmod="sha256")
        self._remembered = lru_cache(maxsize=1024)(self._sealed)  # a session meets the same rows again and again

    def of(self, kind: type[Row], rows: Sequence[Row]) -> str:
        """Return the seal of rows of one kind; a seal that they carry themselves is no part of it."""
        return self._remembered(kind, *cast("Sequence[Hashable]", rows))

    def _sealed(self, kind: type[Row], *rows: Row) -> str:
        read = _reader(kind)
        found = self._keyed.copy()
        found.update(_packed((kind.TABLE, *(value for row in rows for value in read(row)))))
        return found.hexdigest()

    def fits(self, kind: type[Row], rows: Sequence[Row], seal: object) -> bool:
        """Whether the seal is that of the rows."""
        return self.of(kind, rows) == seal


class SealedTransaction:
    """A transaction whose rows are checked when they are read and sealed when they are written.

    See `discreet.ledger.store.Transaction`. Ledgers get no other: a bare transaction never leaves the vault.

    Guarantee: no row is returned that is not as a ledger last wrote it, nor is one missed that it wrote; of two rows
    that were both put back, row and seal, the root tells when the vault is next opened.
    """

    def __init__(self, raw: Raw, sealer: Sealer) -> None:
        self._raw = raw
        self._sealer = sealer
        self._known: dict[Shelf, dict[Key, Row]] = {}
        self._seals: dict[Shelf, str | None] = {}
        self._changed: dict[Shelf, None] = {}
        self._root: Root | None = None
        self._at = ""
        self._total = 0

    # The chain -------------------------------------------------------------------------------------------------------

    def head(self) -> Head:
        """Return the end of the chain, this transaction's entries included."""
        return self._raw.head()

    def append(self, kind: str, body: str) -> Entry:
        """Seal a new entry to the head and store it."""
        return self._raw.append(kind, body)

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry of that number, or refuse one whose hash is not that of what it says."""
        found = self._raw.entry(sequence)
        return None if found is None else _sealed(found)

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return entries in order, those with greater numbers than `after`.

        Guarantee: each is whole and follows the one before it, and none is missing, to the limit or the head.
        """
        head, last, most = self.head(), Head(max(after, 0)), after + (limit or 0)
        if after > 0:
            before = self._raw.entry(after)  # of which only the link is asked
            last = Head(after, before.hash if before else "")
        for entry in self._raw.entries(after, limit):
            yield following(entry, last)
            last = Head(entry.sequence, entry.hash)
        if last.sequence < (head.sequence if limit is None else min(head.sequence, most)):
            missing = last.sequence + 1
            raise Tampered(f"entry {missing}", why="it is missing", sequence=missing)

    def date(self, at: str) -> str:
        """Return the moment of a new entry: the one given or, where that is later, the newest so far."""
        self._at = max(self._at, at)
        return self._at

    # Rows ------------------------------------------------------------------------------------------------------------

    def get(self, kind: type[R], *key: str | int) -> R | None:
        """Return the row of that key."""
        return cast("R | None", self._shelf(_shelf(kind, key)).get(key))

    def limits(self, account: str, grant: str) -> list[Limit]:
        """Return the limits of an account and those of a grant on it, the account's for life first."""
        wanted = [(Limit, (account, each)) for each in dict.fromkeys(("", grant))]
        if not all(each in self._known for each in wanted):
            found = self._raw.limits(account, grant)
            for each in wanted:
                if each not in self._known:
                    self._check(each, [row for row in found if _shelf(Limit, _key(row)) == each])
        return [cast("Limit", row) for each in wanted for _, row in sorted(self._known[each].items())]

    def put(self, row: Row) -> None:
        """Store a row in place of the one with the same key, if there is one."""
        row = as_stored(row)
        kind, key = type(row), _key(row)
        if kind in CARRYING:
            carried = cast("Callable[..., Row]", kind)  # the seal is the last of the fields
            row = carried(*_reader(kind)(row), self._sealer.of(kind, [row]))
            self._known[kind, key] = {key: row}
        else:
            self._change(row)[key] = row
        self._raw.put(row)

    def delete(self, row: Row) -> None:
        """Remove the row of that key."""
        kind, key = type(row), _key(row)
        if kind in CARRYING:
            self._known[kind, key] = {}
        else:
            self._change(row).pop(key, None)
        self._raw.delete(row)

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return all rows of a kind, in the order of their keys; where seals lie apart, none can be missing."""
        self._reseal()
        stored = groupby(self._raw.all(kind), key=lambda row: _shelf(kind, _key(row)))
        if kind in CARRYING:
            for shelf, rows in stored:
                self._check(shelf, found := [*rows])
                yield from found
            return
        seals = {each.name: each.seal for each in self._raw.seals(kind.TABLE)}
        for shelf, rows in stored:
            found = [*rows]
            self._compare(shelf, found, seals.pop(_name(shelf), None))
            yield from found
        if seals:
            raise _tampered(kind)

    def count(self, kind: type[Row]) -> int:
        """Read every row of a kind, and return how many seals they have."""
        return sum(1 for _ in groupby(self.all(kind), key=lambda row: _shelf(kind, _key(row))))

    def wanted(self, wanted: Sequence[Wanted]) -> None:
        """Fetch rows that will be asked for, with their seals, where that saves time."""
        self._raw.expect(with_seals(wanted))

    # The root --------------------------------------------------------------------------------------------------------

    def root(self) -> Root:
        """Return the root as it was when this transaction began, or refuse one that is not as a ledger left it."""
        if self._root is None:
            found = self._raw.get(Root, 1)
            if found is None or not self._sealer.fits(Root, [found], found.seal):
                raise _tampered(Root)
            self._root, self._at, self._total = found, found.at, int(found.total, 16)
        return self._root

    def check_head(self) -> None:
        """Refuse a chain that does not end where the root was made."""
        root, head = self.root(), self.head()
        if (root.sequence, root.hash) != (head.sequence, head.hash):
            why = "what is stored beside the chain was made for another end of it"
            raise Tampered(f"entry {head.sequence}", why=why, sequence=head.sequence)

    def check_total(self) -> None:
        """Read every row of the counted kinds, and compare the sum of their seals with the root."""
        root, total = self.root(), 0
        for kind in COUNTED:
            self.count(kind)
            total += sum(int(each.seal, 16) for each in self._raw.seals(kind.TABLE))
        if f"{total % _MODULUS:064x}" != root.total:
            raise Tampered(
                "what is stored beside the chain", why="some of it was restored to an older state, with seals"
            )

    def correct(self, at: str) -> None:
        """Set the vault's time back: the next entry, which says so, may be dated before the last."""
        self.root()
        self._at = at

    def exchange(self, secret: Secret) -> None:
        """Put a key of the vault in the place of the one of that name; no seal covers keys, which the chain names."""
        self._raw.delete(secret)
        self._raw.put(secret)

    def seal_anew(self, sealer: Sealer) -> None:
        """Seal every row with another key, and the root when this ends, after a look at each with the key before.

        Guarantee: a row that does not fit its seal is refused, and gets no new one.
        """
        self._reseal()
        for kind in CARRYING:
            for row in self.all(kind):
                self._raw.put(replace(row, seal=sealer.of(kind, [row])))
        total = 0
        for kind in COUNTED:
            for shelf, rows in groupby([*self.all(kind)], key=lambda row: _shelf(kind, _key(row))):
                made = Seal(kind.TABLE, _name(shelf), sealer.of(kind, [*rows]))
                total += int(made.seal, 16)
                self._raw.put(made)
        self._sealer, self._total = sealer, total % _MODULUS
        self._known.clear()
        self._seals.clear()

    def begin(self) -> None:
        """Make the root of a new vault."""
        self._root = Root(1, 0, "", f"{0:064x}", "", "")

    def finish(self, wall: str) -> None:
        """Seal what was changed and bind it to the head; `wall` is what the machine's clock shows."""
        head, root = self.head(), self.root()
        self._reseal()
        after = (head.sequence, head.hash, f"{self._total:064x}", self._at)
        if after != (root.sequence, root.hash, root.total, root.at):
            self._raw.put(Root(1, *after, wall, self._sealer.of(Root, [Root(1, *after, wall)])))

    # How shelves are kept --------------------------------------------------------------------------------------------

    def _shelf(self, shelf: Shelf) -> dict[Key, Row]:
        """Return the rows that are sealed together, checked once in a transaction."""
        if shelf not in self._known:
            kind, name = shelf
            if kind is Limit:
                try:
                    self.limits(*name)
                except UnicodeEncodeError:  # no valid text, so nothing can have been stored under it
                    return {}
            else:
                found = self._raw.get(kind, *name)
                self._check(shelf, [] if found is None else [found])
        return self._known[shelf]

    def _check(self, shelf: Shelf, rows: Sequence[Row]) -> None:
        kind = shelf[0]
        if kind in CARRYING:
            seal = rows[0].seal if rows else None  # type: ignore[attr-defined]  # as all of these do
        else:
            found = self._raw.get(Seal, kind.TABLE, _name(shelf))
            seal = self._seals[shelf] = found.seal if found else None
        self._compare(shelf, rows, seal)
        self._known[shelf] = {_key(row): row for row in rows}

    def _compare(self, shelf: Shelf, rows: Sequence[Row], seal: str | None) -> None:
        if not rows and seal is None:
            return
        if not rows or seal is None or not self._sealer.fits(shelf[0], rows, seal):
            raise _tampered(shelf[0])

    def _change(self, row: Row) -> dict[Key, Row]:
        """Return the shelf of a row that is being changed; a row that is alone on its shelf need not be read first."""
        shelf = _shelf(type(row), _key(row))
        self._changed[shelf] = None
        return self._shelf(shelf) if type(row).TABLE in SHELVES else self._known.setdefault(shelf, {})

    def _reseal(self) -> None:
        for shelf in self._changed:
            kind = shelf[0]
            rows = [row for _, row in sorted(self._known[shelf].items())]
            seal = Seal(kind.TABLE, _name(shelf), self._sealer.of(kind, rows) if rows else "")
            if kind in COUNTED:
                self.root()
                self._total = (self._total - self._old(shelf) + int(seal.seal or "0", 16)) % _MODULUS
            self._seals[shelf] = seal.seal or None
            if rows:
                self._raw.put(seal)
            else:
                self._raw.delete(seal)
        self._changed.clear()

    def _old(self, shelf: Shelf) -> int:
        """Return the seal that the root still counts."""
        if shelf not in self._seals:
            found = self._raw.get(Seal, shelf[0].TABLE, _name(shelf))
            self._seals[shelf] = found.seal if found else None
        try:
            return int(self._seals[shelf] or "0", 16)
        except ValueError:
            raise _tampered(shelf[0]) from None


def with_seals(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Return the rows that will be wanted, their seals and the root."""
    names: dict[Wanted, None] = {(Root, 1): None}
    for kind, *key in wanted:
        if kind in CARRYING:
            continue
        shelves = [(kind, (key[0], each)) for each in ("", key[1])] if kind is Limit else [_shelf(kind, tuple(key))]
        names |= {(Seal, kind.TABLE, _name(shelf)): None for shelf in shelves}
    return [*wanted, *names]


def following(entry: Entry, last: Head) -> Entry:
    """Return an entry, or refuse one that does not follow the last, or whose hash is not that of what it says."""
    expected = last.sequence + 1
    if entry.sequence != expected:
        raise Tampered(f"entry {expected}", why=f"entry {entry.sequence} stands in its place", sequence=expected)
    if entry.previous != last.hash:
        raise Tampered(f"entry {expected}", why="it does not follow the entry before it", sequence=expected)
    return _sealed(entry)


def _sealed(entry: Entry) -> Entry:
    if not entry.sealed:
        raise Tampered(f"entry {entry.sequence}", why="its hash is not that of what it says", sequence=entry.sequence)
    return entry


def _packed(values: Sequence[object]) -> bytes:
    """Write values one after the other, each with its type and its length, so no two lists of them agree."""
    texts = [
        f"s{len(value)}:{value}" if type(value) is str else f"{type(value).__name__}{len(repr(value))}:{value!r}"
        for value in values
    ]
    return "".join(texts).encode(errors="surrogatepass")


@cache
def _reader(kind: type[Row]) -> Callable[[Row], Key]:
    """Return what reads the sealed fields of a row: all, except for a seal that it carries."""
    carried = kind in CARRYING or kind is Root
    return attrgetter(*(name for name in columns(kind) if not (carried and name == "seal")))


@cache
def _places(kind: type[Row]) -> tuple[int, ...]:
    """Return which parts of a key name the shelf."""
    return tuple(kind.KEY.index(name) for name in SHELVES.get(kind.TABLE, kind.KEY))


def _shelf(kind: type[Row], key: Key) -> Shelf:
    return kind, tuple(key[place] for place in _places(kind))


def _name(shelf: Shelf) -> str:
    """Write a shelf's key as JSON, in ASCII."""
    return "[" + ", ".join([_quoted(each) if type(each) is str else str(each) for each in shelf[1]]) + "]"


def _key(row: Row) -> Key:
    return tuple([getattr(row, name) for name in type(row).KEY])


def _tampered(kind: type[Row]) -> Tampered:
    why = "the seal of a row does not fit: the row was changed, lost, or restored to an older state"
    fix = "stop answering from this vault, run discreet verify, and restore the newest copy whose head you know"
    return Tampered(f"what is stored of {kind.TABLE}", why=why, fix=fix)
