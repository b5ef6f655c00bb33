"""A state machine plays custodian, analysts, crashes, windows and clock jumps against a simple model of the ledger."""

import shutil
import tempfile
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from discreet.account.budgets.budget import BudgetExceeded
from discreet.core.errors import BadParameter
from discreet.ledger import AccessRefused, Conflict, Ledger, QuestionFailed
from tests.ledger.helpers import Clock, charge, epsilon
from tests.ledger.stores import POSTGRES, new_place

ACCOUNTS = ("people", "staff")
ANALYSTS = ("ann", "bob")
FAILED = "failed"
OUTCOMES = ("answer", "fail", "interrupted", "crash")
amounts = st.integers(1, 6).map(lambda twentieths: Fraction(twentieths, 20))
accounts = st.sampled_from(ACCOUNTS)
both = st.sampled_from([["people"], ["staff"], ["people", "staff"]])


class Room:
    """One limit of the model: what is left of it, in the newest month it has seen."""

    def __init__(self, budget, month=None):
        self.budget, self.month, self.spent = budget, month, Fraction(0)

    def left(self, month):
        return self.budget - (0 if self.month and month > self.month else self.spent)

    def take(self, amount, month):
        if self.month and month > self.month:
            self.month, self.spent = month, Fraction(0)
        self.spent += amount


class Life(RuleBasedStateMachine):
    """The ledger beside dictionaries that say what it should hold."""

    store = "sqlite"

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.given = {"clock": self.clock, "lease_seconds": 0.001, "anchor": self.folder / "anchor"}
        self.path = new_place(self.store, self.folder)
        self.ledger = Ledger.create(self.path, **self.given)
        self.rooms = {(account, None, "life"): Room(Fraction(1)) for account in ACCOUNTS}
        for account in ACCOUNTS:
            self.ledger.add_account(account, epsilon(1))
        self.grants = {}  # analyst -> identifier, or None once revoked
        self.debits = {}  # question -> (accounts, amount)
        self.answers = {}  # question -> the settled answer
        self.tallies = {(account, analyst): Fraction(0) for account in ACCOUNTS for analyst in ANALYSTS}
        self.paid = []  # month, account, analyst and amount of every charge
        self.charged = 0
        self.head = self.ledger.head

    def teardown(self):
        if hasattr(self, "ledger"):
            self.ledger.verify(self.head[1])
            self.ledger.close()
            shutil.rmtree(self.folder)

    @property
    def month(self):
        """The month by the vault's time, which goes on from its last entry where the clock was set back."""
        return self.ledger.now().isoformat()[:7]

    def touched(self, names, analyst):
        return [room for (account, who, _), room in self.rooms.items() if account in names and who in (None, analyst)]

    def who(self, analyst):
        return {"analyst": analyst, "grant": self.grants[analyst]} if self.grants.get(analyst) else {"analyst": analyst}

    # The custodian ---------------------------------------------------------------------------------------------------

    @rule(account=accounts, amount=amounts)
    def set_a_window(self, account, amount):
        self.ledger.window(account, epsilon(amount))
        self.rooms[account, None, "month"] = Room(amount, self.month)

    @rule(
        analyst=st.sampled_from(ANALYSTS),
        cap=st.none() | amounts,
        monthly=st.none() | amounts,
        existing=st.sampled_from([None, "replace", "add", "end"]),
    )
    def give_a_grant(self, analyst, cap, monthly, existing):
        windows = {"people": epsilon(monthly) if monthly else None}
        caps = {name: epsilon(cap) if cap else None for name in ACCOUNTS}
        held = [self.rooms.get((name, analyst, "life")) for name in ACCOUNTS]
        month = self.rooms.get(("people", analyst, "month"))
        there = [bool(room) for given, rooms in ((cap, held), (monthly, [month])) if given for room in rooms]
        refused = {
            None: any(there),
            "replace": not there,
            "add": not there or not all(there),
            "end": False,
        }[existing]
        try:
            token = self.ledger.grant(analyst, ["visits"], caps, monthly=windows, existing=existing)
        except (Conflict, BadParameter):
            assert refused
            return
        assert not refused
        self.grants[analyst] = self.ledger.authenticate(token).id
        for name, room in zip(ACCOUNTS, held, strict=True):
            if not cap:
                self.forget(name, analyst, "life", existing)
                continue
            total = cap + (room.budget if existing == "add" else 0)
            self.rooms[name, analyst, "life"] = self.recounted(Room(total), name, analyst, "")
        if monthly:
            label = max(self.month, month.month if month else "")
            total = monthly + (month.budget if existing == "add" else 0)
            self.rooms["people", analyst, "month"] = self.recounted(Room(total, label), "people", analyst, label)
        else:
            self.forget("people", analyst, "month", existing)

    def forget(self, name, analyst, span, existing):
        if existing == "end":
            self.rooms.pop((name, analyst, span), None)

    def recounted(self, room, name, analyst, label):
        paid = (amount for month, *whose, amount in self.paid if month >= label and whose == [name, analyst])
        room.spent = min(room.budget, sum(paid, Fraction(0)))
        return room

    @precondition(lambda self: any(self.grants.values()))
    @rule(data=st.data())
    def revoke_a_grant(self, data):
        analyst = data.draw(st.sampled_from([name for name, grant in self.grants.items() if grant]))
        asked = charge("after the end", **self.who(analyst))
        self.ledger.revoke(self.grants.pop(analyst))
        try:
            self.ledger.run(asked, lambda _: "never")
        except AccessRefused:
            return
        raise AssertionError("a revoked grant was served")

    # Time ------------------------------------------------------------------------------------------------------------

    @rule(days=st.integers(-400, 400))
    def set_the_clock(self, days):
        self.clock.move(days=days)

    @rule()
    def let_leases_expire(self):
        self.clock.now += timedelta(hours=2)

    # Analysts --------------------------------------------------------------------------------------------------------

    def pay(self, question, names, amount, analyst):
        """Charge in the model; say whether it fits."""
        rooms, month = self.touched(names, analyst), self.month
        if any(amount > room.left(month) for room in rooms):
            return False
        for room in rooms:
            room.take(amount, month)
        for name in names:
            self.tallies[name, analyst] += amount
            self.paid.append((month, name, analyst, amount))
        self.debits[question] = (names, amount)
        self.charged += 1
        return True

    def drawn(self, data):
        """A question that was asked before, at its price, or a new one."""
        if self.debits and data.draw(st.booleans()):
            question = data.draw(st.sampled_from(sorted(self.debits)))
            return question, *self.debits[question]
        return f"q{len(self.debits)} {data.draw(st.integers(0, 9))}", data.draw(both), data.draw(amounts)

    @rule(
        data=st.data(),
        analyst=st.sampled_from(ANALYSTS),
        outcome=st.sampled_from(["answer", "fail", "interrupted", "crash"]),
    )
    def ask(self, data, analyst, outcome):
        question, names, amount = self.drawn(data)
        asked = charge(question, amount, names, **self.who(analyst))
        settled = self.answers.get(question)
        fits = question in self.debits or self.pay(question, names, amount, analyst)
        if outcome == "crash" and settled is None and fits:
            return self.crash(asked)
        return self.answered(question, asked, fits, settled, outcome)

    def answered(self, question, asked, fits, settled, outcome):
        worked = []

        def work(_draws):
            worked.append(question)
            if outcome == "fail":
                raise ZeroDivisionError
            if outcome == "interrupted":
                raise KeyboardInterrupt
            return f"{question} answered after {self.charged} charges"

        try:
            answer, receipt = self.ledger.run(asked, work)
        except BudgetExceeded:
            assert not fits
            assert not worked
        except KeyboardInterrupt:
            assert fits
            assert settled is None
        except QuestionFailed:
            assert fits
            assert settled == FAILED or (settled is None and outcome == "fail")
            assert bool(worked) == (settled is None)
            self.answers[question] = FAILED
        else:
            assert fits
            assert settled != FAILED
            assert receipt.replayed == (settled is not None) == (not worked)
            assert answer == (settled or f"{question} answered after {self.charged} charges")
            self.answers[question] = answer

    def crash(self, asked):
        """Charge, take the lease, and be gone without a word."""
        receipt = self.ledger.charge(asked)
        held = dict(self.ledger.unsettled())
        assert held[receipt.sequence] == asked.key
        with suppress(Conflict):  # the clock was set back, and another dead worker still seems to be at it
            self.ledger.lease(receipt)
        self.open_again()

    @rule(data=st.data(), analyst=st.sampled_from(ANALYSTS), amount=amounts)
    def ask_for_a_fresh_answer(self, data, analyst, amount):
        question = data.draw(st.sampled_from(sorted(self.debits))) if self.debits else "fresh"
        asked = charge(question, amount, ["people"], **self.who(analyst))
        before = self.debits.get(question)
        fits = self.pay(question, ["people"], amount, analyst)
        self.debits.pop(question, None)
        if before:
            self.debits[question] = before
        try:
            answer, receipt = self.ledger.run(asked, lambda _: "fresh", fresh=True)
            assert fits
            assert (answer, receipt.replayed) == ("fresh", False)
        except BudgetExceeded:
            assert not fits

    @rule()
    def open_again(self):
        self.ledger.close()
        self.ledger = Ledger.open(self.path, **self.given)

    @rule()
    def keep_the_head(self):
        self.head = self.ledger.head

    # What always holds -----------------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_overspent_and_the_model_agrees(self):
        if not hasattr(self, "ledger"):
            return
        for account in ACCOUNTS:
            spent = self.ledger.spent(account).loss
            assert spent == self.rooms[account, None, "life"].spent <= 1
            for analyst in ANALYSTS:
                assert self.ledger.spent(account, analyst).loss == self.tallies[account, analyst]

    @invariant()
    def every_limit_stands_as_in_the_model(self):
        if not hasattr(self, "ledger"):
            return
        standings = self.ledger.standing()
        assert len(standings) == len(self.rooms)
        for standing in standings:
            room = self.rooms[standing.account, standing.analyst, "month" if standing.scope == "window" else "life"]
            assert standing.filter.remaining.loss == room.left(self.month)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


class LifeInPostgres(Life):
    """The same life in another store."""

    store = "postgres"


TestLifeInPostgres = POSTGRES(LifeInPostgres.TestCase)
TestLifeInPostgres.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
