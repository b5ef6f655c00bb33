"""Bills of tables: every account of them is charged once, under the limits of whoever bills."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.cost import Uncountable
from discreet.account.losses.gaussian import Gaussian
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between
from discreet.core.unit import person
from discreet.curator.bill import bill_of, check_loss
from discreet.curator.curator import Curator
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusals import AccessRefused, Conflict, LimitExceeded
from discreet.local.collection import Collection
from discreet.local.protocols.unary import unary

ROWS = {"id": ["1", "2"], "age": ["3", "4"]}
TERMS = {"unit": person("id", max_rows=2), "columns": {"age": between(0, 9)}}


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with Curator(tmp_path_factory.mktemp("bill") / "vault.discreet") as made:
        made.register("visits", ROWS, budget=Budget(epsilon=8, delta=1e-6), group="patients", **TERMS)
        made.register("stays", ROWS, group="patients", **TERMS)
        unit = person("id", max_rows=2, relation="replace")
        people = {"id": ["8", "9"], "age": ["3", "4"]}
        made.register("clients", people, unit=unit, columns=TERMS["columns"], budget=Budget(epsilon=8))
        yield made


def test_tables_of_one_account_are_charged_once(curator):
    receipt = curator.bill(["visits", "stays", "visits"], Zcdp(1e-6), "training")
    assert dict(receipt.losses) == {"patients": Zcdp(1e-6)}
    assert [entry.record()["tables"] for entry in curator.ledger.entries(receipt.sequence - 1, 1)] == [
        {"stays": 1, "visits": 1}
    ]


def test_every_account_of_a_bill_pays_all_of_it(tmp_path):
    with Curator(tmp_path / "vault.discreet") as made:
        made.register("visits", ROWS, budget=Budget(epsilon=1), **TERMS)
        made.register("stays", {"id": ["8", "9"], "age": ["1", "2"]}, budget=Budget(epsilon=2), **TERMS)
        made.bill(["visits", "stays"], Pure(0.5), "training")
        assert [made.ledger.spent(name).texts() for name in ("visits", "stays")] == [("1/2", "0")] * 2
        with pytest.raises(LimitExceeded, match="visits"):
            made.bill(["visits", "stays"], Pure(0.75), "training")
        assert made.ledger.spent("stays").texts() == ("1/2", "0")


def test_a_sum_of_any_losses_is_billed(curator):
    loss = Gaussian(40).sampled(0.01) * 100 + Pure(1e-3)
    assert curator.bill("visits", loss, "training").losses["patients"] == loss


def test_a_bill_of_an_analyst_counts_for_their_cap(curator):
    with curator_session(curator, "ann", "visits", Budget(epsilon=0.5, delta=1e-7)) as session:
        first = session.bill("visits", Pure(0.2), "training", key="7")
        again = session.bill("visits", Pure(0.2), "training", key="7")
        assert (again.sequence, again.replayed) == (first.sequence, True)
        with pytest.raises(LimitExceeded, match="the cap of ann"):
            session.bill("visits", Pure(0.4), "training")
        with pytest.raises(UnknownName):
            session.bill("clients", Pure(0.1), "training")
        curator.revoke("ann")
        with pytest.raises(AccessRefused):
            session.bill("visits", Pure(0.1), "training")


def test_a_price_below_the_least_is_refused_to_analysts(curator):
    with (
        curator_session(curator, "bob", "visits", None) as session,
        pytest.raises(Refusal, match="a price below"),
    ):
        session.bill("visits", Pure(1e-12), "training")


def test_a_loss_under_another_relation_is_refused_with_the_fix(curator):
    with pytest.raises(BadParameter, match="counted under 'add_remove'") as caught:
        curator.bill("visits", Pure(1, relation="replace"), "training")
    assert "relation='replace'" in caught.value.fix
    with pytest.raises(BadParameter, match="counted under 'replace'"):  # of any table, not of the first alone
        curator.bill(["visits", "clients"], Pure(1), "training")


def test_no_table_and_an_unknown_one_are_refused(curator):
    with pytest.raises(BadParameter, match="their budget pays"):
        curator.bill([], Pure(1), "training")
    with pytest.raises(UnknownName):
        curator.bill("vists", Pure(1), "training")


def test_a_local_collection_is_billed_for_all_of_its_epochs(curator):
    survey = Collection("survey", unary(k=4, epsilon=0.25), epochs=3)
    receipt = curator.bill("clients", survey.loss, "survey")
    assert float(receipt.losses["clients"].peak) == pytest.approx(0.75)
    assert curator.ledger.spent("clients").loss <= 0.75


def test_a_grant_that_ends_meanwhile_bills_nothing(curator):
    grant = curator.grant("cyd", "visits").partition("_")[0]
    curator.revoke(grant)
    bill = bill_of({"patients": Pure(0.1)}, {"visits": 1}, "training", analyst="cyd", grant=grant)
    with pytest.raises(AccessRefused, match="revoked"):
        curator.ledger.bill(bill)


def curator_session(curator, analyst, tables, budget):
    """A session that leaves the vault open when it ends."""
    from contextlib import contextmanager

    @contextmanager
    def opened():
        yield curator.session(curator.grant(analyst, tables, budget=budget))

    return opened()


@pytest.fixture
def paying(tmp_path):
    with Ledger.create(tmp_path / "vault.discreet") as made:
        made.add_account("patients", Budget(epsilon=2))
        yield made


def test_a_bill_is_charged_and_settled_in_one_transaction(paying):
    receipt = paying.bill(bill_of({"patients": Pure(1)}, {"visits": 1}, "training"))
    assert [each.kind for each in paying.entries()][-2:] == ["charge", "settle"]
    assert float(paying.spent("patients").loss) == 1
    assert paying.unsettled() == ()
    assert (receipt.replayed, dict(receipt.remaining["patients"])["loss"]) == (False, "1")
    assert isinstance(paying.verify(receipt.head), Verified)


def test_two_bills_are_two_charges_however_alike(paying):
    for _ in range(2):
        paying.bill(bill_of({"patients": Pure(1)}, {"visits": 1}, "training"))
    with pytest.raises(LimitExceeded):
        paying.bill(bill_of({"patients": Pure(1)}, {"visits": 1}, "training"))
    assert [each.kind for each in paying.entries()][-1] == "refusal"


def test_a_retry_under_the_same_key_returns_the_same_receipt(paying):
    first = paying.bill(bill_of({"patients": Pure(1)}, {"visits": 1}, "training", key="run 7"))
    # The table was refreshed meanwhile, and the bill is the one that was paid.
    again = paying.bill(bill_of({"patients": Pure(1)}, {"visits": 2}, "training", key="run 7"))
    assert (again.sequence, again.head, again.replayed) == (first.sequence, first.head, True)
    assert float(paying.spent("patients").loss) == 1


@pytest.mark.parametrize(
    ("losses", "tables", "label"),
    [
        ({"patients": Pure(2)}, {"visits": 1}, "training"),
        ({"patients": Pure(1)}, {"visits": 1, "stays": 1}, "training"),
        ({"patients": Pure(1)}, {"visits": 1}, "another training"),
    ],
    ids=["loss", "tables", "label"],
)
def test_a_key_means_one_bill(paying, losses, tables, label):
    paying.bill(bill_of({"patients": Pure(1)}, {"visits": 1}, "training", key="run 7"))
    with pytest.raises(Conflict, match="another bill was paid under it"):
        paying.bill(bill_of(losses, tables, label, key="run 7"))
    assert float(paying.spent("patients").loss) == 1


def test_keys_belong_to_whoever_names_them():
    terms = {"patients": Pure(1)}, {"visits": 1}, "training"
    keys = [bill_of(*terms, key="7", **whose).key for whose in ({}, {"analyst": "ann"}, {"analyst": "bob"})]
    assert len({*keys, bill_of(*terms).key, bill_of(*terms).key}) == 5


@pytest.mark.parametrize("loss", [None, 1.0, -1, "Pure(1)", Pure, object()])
def test_what_is_no_loss_is_refused(loss):
    with pytest.raises(BadParameter, match="as a privacy loss"):
        check_loss(loss)


def test_a_loss_of_nothing_needs_no_bill():
    with pytest.raises(BadParameter, match="it loses nothing"):
        check_loss(Pure(0))


def test_a_loss_that_the_filter_cannot_count_is_refused(paying):
    with pytest.raises(Uncountable, match="unbounded"):
        paying.bill(bill_of({"patients": Gaussian(1)}, {"visits": 1}, "training"))
    assert float(paying.spent("patients").loss) == 0


@pytest.mark.parametrize("label", ["", "  ", "a\nb", "a\x1b[2J", "x" * 201, None, 7])
def test_a_label_is_one_visible_line(label):
    with pytest.raises(BadParameter, match="visible characters"):
        bill_of({"patients": Pure(1)}, {"visits": 1}, label)


def test_a_race_of_retries_pays_once(paying):
    with ThreadPoolExecutor(4) as pool:
        bill = bill_of({"patients": Pure(1)}, {"visits": 1}, "training", key="run 7")
        receipts = [*pool.map(lambda _: paying.bill(bill), range(8))]
    assert sorted(each.replayed for each in receipts) == [False] + 7 * [True]
    assert float(paying.spent("patients").loss) == 1
