"""Policies: a file that is applied to a vault, whose every refusal names the line."""

import datetime as dt

import pytest

from discreet.account.budgets.budget import Budget
from discreet.core.errors import Refusal
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.curator.policy import read
from discreet.engines.duckdb.options import csv

WHOLE = """\
vault = "my.discreet"

[tables.visits]
source = "visits.csv"
unit = { person = "patient_id", max_rows = 20 }
budget = { epsilon = 3, delta = 1e-6 }
group = "patients"
rows = 1_000

[tables.visits.columns]
age = "0..110"
cost = { bounds = [0, 50_000], step = 0.01, nullable = false }
ward = ["A", "B"]
shift = { kind = "category", keys = [1, 2, 3] }
admitted = { bounds = [2020-01-01, 2024-12-31] }
emergency = { kind = "flag" }
remarks = "text"

[windows.patients]
epsilon = 1
delta = 1e-7

[grants.alice]
tables = ["visits"]
budget = { epsilon = 1, delta = 1e-6 }
monthly = { epsilon = 0.5, delta = 1e-7 }
expires = 2099-01-31
"""


@pytest.fixture
def folder(tmp_path):
    names = "patient_id,age,cost,ward,shift,admitted,emergency,remarks"
    (tmp_path / "visits.csv").write_text(f"{names}\n1,41,3.50,A,1,2020-02-29,true,hello\n")
    return tmp_path


@pytest.fixture
def curator(folder):
    with Curator(folder / "my.discreet") as opened:
        yield opened


def policy(folder, text=WHOLE):
    (folder / "discreet.toml").write_text(text)
    return read(folder / "discreet.toml")


def refused(folder, text, curator=None):
    with pytest.raises(Refusal) as caught:
        policy(folder, text) if curator is None else policy(folder, text).apply(curator)
    return str(caught.value)


def test_a_policy_is_read_whole(folder):
    found = policy(folder)
    visits = found.table("visits")
    assert found.vault == folder / "my.discreet"
    assert visits.source == csv(folder / "visits.csv")
    assert visits.unit == person("patient_id", max_rows=20)
    assert dict(visits.columns) == {
        "age": between(0, 110),
        "cost": between(0, 50_000, step=0.01, nullable=False),
        "ward": one_of("A", "B"),
        "shift": one_of(1, 2, 3),
        "admitted": date("2020-01-01", "2024-12-31"),
        "emergency": flag(),
        "remarks": text(),
    }
    assert (visits.rows, visits.group) == (1000, "patients")
    (alice,) = found.grants
    assert alice.expires == dt.datetime(2099, 1, 31, tzinfo=dt.UTC)
    assert alice.tables == ("visits",)


def test_numbers_are_exact(folder):
    found = policy(folder).table("visits").budget.filter()
    assert found == Budget(epsilon=3, delta=1e-6).filter()
    assert policy(folder).table("visits").columns["cost"].step.denominator == 100


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ('unit = "row"', row()),
        ('unit = { row = true, relation = "replace" }', row(relation="replace")),
        (
            'unit = { person = "patient_id", max_rows = 4, max_groups = 2, bound = "table" }',
            person("patient_id", max_rows=4, max_groups=2, bound="table"),
        ),
        (
            'unit = { person = "patient_id", max_rows = 4, max_groups = 2, max_rows_per_group = 3 }',
            person("patient_id", max_rows=4, max_groups=2, max_rows_per_group=3),
        ),
    ],
)
def test_units_are_written_in_three_ways(folder, words, unit):
    text = WHOLE.replace('unit = { person = "patient_id", max_rows = 20 }', words)
    assert policy(folder, text).table("visits").unit == unit


def test_a_dialect_can_be_said(folder):
    source = '{ path = "visits.csv", delimiter = ";", quote = "", header = false, names = ["a", "b"] }'
    found = policy(folder, WHOLE.replace('"visits.csv"', source)).table("visits").source
    assert found == csv(folder / "visits.csv", delimiter=";", quote=None, header=False, names=("a", "b"))


def test_applying_a_policy_registers_what_is_missing_and_then_leaves_it(folder, curator):
    first = policy(folder).apply(curator)
    assert [(each.action, each.name) for each in first] == [
        ("registered", "visits"),
        ("window set", "patients"),
        ("granted", "alice"),
    ]
    assert curator.session(first[2].token).tables() == ["visits"]
    head = curator.ledger.head
    again = policy(folder).apply(curator)
    assert {each.action for each in again} == {"left"}
    assert [each.token for each in again] == [None] * 3
    assert curator.ledger.head == head


def test_new_bounds_are_declared_as_a_new_version(folder, curator):
    policy(folder).apply(curator)
    applied = policy(folder, WHOLE.replace("0..110", "0..120")).apply(curator)
    assert [each.action for each in applied] == ["declared", "left", "left"]
    assert curator.table("visits").version == 2


def test_what_the_file_does_not_mention_stays(folder, curator):
    policy(folder).apply(curator)
    assert policy(folder, 'vault = "my.discreet"\n').apply(curator) == []
    assert curator.tables() == ["visits"]


# What would loosen a promise is refused, and so is what would tighten it: the line, what, why and the fix.
PROMISES = {
    "a raised budget": (
        ("epsilon = 3", "epsilon = 5"),
        (
            "discreet.toml:6: budget epsilon=5, delta=1e-06: 'patients' was registered with epsilon=3, delta=1e-06,"
            " which is a permanent guarantee to people. Fix: leave the budget out or repeat it;"
            " to allow an analyst less, cap the grant."
        ),
    ),
    "a lowered budget": (
        ("epsilon = 3", "epsilon = 2"),
        (
            "discreet.toml:6: budget epsilon=2, delta=1e-06: 'patients' was registered with epsilon=3, delta=1e-06,"
            " which is a permanent guarantee to people. Fix: leave the budget out or repeat it;"
            " to allow an analyst less, cap the grant."
        ),
    ),
    "a weaker unit": (
        ('{ person = "patient_id", max_rows = 20 }', '"row"'),
        (
            "discreet.toml:5: identifier=None: 'visits' was registered with identifier='patient_id', and what it"
            " answered was counted under that."
            " Fix: keep it: a guarantee to people is permanent."
        ),
    ),
    "another group": (
        ('group = "patients"', 'group = "others"'),
        (
            "discreet.toml:7: group='others': 'visits' is paid from 'patients', and what it spent cannot be moved."
            " Fix: leave the group out."
        ),
    ),
    "another source": (
        ('"visits.csv"', '"other.csv"'),
        (
            "discreet.toml:4: the source of 'visits': its rows were registered from elsewhere."
            " Fix: run discreet refresh visits with the new source."
        ),
    ),
}


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_is_kept_whatever_the_file_says(folder, curator, promise):
    (folder / "other.csv").write_text((folder / "visits.csv").read_text() + "2,1,1,A,1,2020-01-01,true,x\n")
    policy(folder).apply(curator)
    (old, new), expected = PROMISES[promise]
    assert refused(folder, WHOLE.replace(old, new), curator) == expected


def test_another_grant_is_refused_until_the_old_one_is_revoked(folder, curator):
    policy(folder).apply(curator)
    wider = WHOLE.replace("monthly = { epsilon = 0.5", "monthly = { epsilon = 0.9")
    assert refused(folder, wider, curator) == (
        "discreet.toml:23: a grant for 'alice': one exists for other tables or with other caps, and an issued"
        " token is not changed. Fix: run discreet revoke alice first."
    )
    curator.revoke("alice")
    assert [each.action for each in policy(folder, wider).apply(curator)] == ["left", "left", "granted"]


ERRORS = {
    "no TOML": ("vault = \n", "discreet.toml:1: not TOML: invalid value. Fix: mend that line."),
    "an unknown key": (
        WHOLE.replace("budget = { epsilon = 3", "bugdet = { epsilon = 3"),
        "discreet.toml:6: key 'bugdet': there is no key of that name. Fix: did you mean 'budget'?",
    ),
    "an unknown section": (
        WHOLE.replace("[windows.patients]", "[window.patients]"),
        "discreet.toml:19: key 'window': there is no key of that name. Fix: did you mean 'windows'?",
    ),
    "an unknown key in a budget": (
        WHOLE.replace("budget = { epsilon = 3", "budget = { epsilom = 3"),
        "discreet.toml:6: key 'epsilom': there is no key of that name. Fix: did you mean 'epsilon'?",
    ),
    "bounds in the wrong order": (
        WHOLE.replace("0..110", "110..0"),
        "discreet.toml:11: low=110: it lies above high=0. Fix: give the smaller bound first.",
    ),
    "a column without bounds": (
        WHOLE.replace('{ kind = "flag" }', '{ kind = "number" }'),
        (
            "discreet.toml:16: tables.visits.columns.emergency={'kind': 'number'}: a number or a date has bounds, a"
            " category has keys, a flag or a text has neither."
            ' Fix: write { bounds = [0, 110] }, { keys = ["A", "B"] }, "flag" or "text".'
        ),
    ),
    "one bound": (
        WHOLE.replace("[0, 50_000]", "[0]"),
        "discreet.toml:12: bounds=[0]: there are two bounds. Fix: write bounds = [0, 110].",
    ),
    "no unit": (
        WHOLE.replace("unit = ", "# unit = "),
        (
            "discreet.toml:3: unit=None: tables.visits does not say it."
            ' Fix: declare the protected unit: unit = "row", or { person = "patient_id", max_rows = 20 }.'
        ),
    ),
    "no max_rows": (
        WHOLE.replace(", max_rows = 20", ""),
        (
            "discreet.toml:5: max_rows=None: the number of rows of one person has to be bounded."
            " Fix: use the most one person should count for, for example 20."
        ),
    ),
    "a size that is none": (
        WHOLE.replace("rows = 1_000", "rows = -1"),
        (
            "discreet.toml:8: rows=-1: a declared size is a positive integer."
            " Fix: leave it out unless the size is public."
        ),
    ),
    "a table that is a number": (
        "tables = 3\n",
        "discreet.toml:1: tables=3: it has to be a table. Fix: write [tables] or { key = value }.",
    ),
    "a grant that expires at no time": (
        WHOLE.replace("expires = 2099-01-31", 'expires = "soon"'),
        (
            "discreet.toml:27: expires='soon': it is neither a duration nor a date."
            " Fix: write 30d, 12h, 8w or 2027-01-31."
        ),
    ),
    "tables that are no list": (
        WHOLE.replace('tables = ["visits"]', 'tables = "visits"'),
        (
            "discreet.toml:24: grants.alice.tables='visits': it has to be a list of names of tables."
            " Fix: put it in square brackets."
        ),
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_refused_with_its_line(folder, error):
    text, expected = ERRORS[error]
    assert refused(folder, text) == expected


APPLIED = {
    "a missing column": (
        WHOLE.replace('age = "0..110"', 'agee = "0..110"'),
        (
            "discreet.toml:11: column of the source 'agee': there is no column of the source of that name."
            " Fix: did you mean 'age'?"
        ),
    ),
    "no budget": (
        WHOLE.replace("budget = { epsilon = 3, delta = 1e-6 }\n", ""),
        (
            "discreet.toml:3: budget=None: without a budget a table would reveal everything in the end."
            " Fix: set the privacy loss it may incur: budget=Budget(epsilon=1)."
        ),
    ),
    "a window on nothing": (
        WHOLE.replace("[windows.patients]", "[windows.patient]"),
        "discreet.toml:19: account 'patient': there is no account of that name. Fix: did you mean 'patients'?",
    ),
    "a grant to nothing": (
        WHOLE.replace('tables = ["visits"]', 'tables = ["visit"]'),
        "discreet.toml:23: table 'visit': there is no table of that name. Fix: did you mean 'visits'?",
    ),
}


@pytest.mark.parametrize("error", APPLIED)
def test_what_the_vault_refuses_is_refused_with_its_line(folder, curator, error):
    text, expected = APPLIED[error]
    assert refused(folder, text, curator) == expected


def test_a_missing_policy_is_refused(tmp_path):
    with pytest.raises(Refusal, match="write one with discreet init"):
        read(tmp_path / "discreet.toml")


def test_lines_are_found_past_long_texts_and_odd_keys(folder):
    text = 'note = 3\n[tables."my visits"]\nsource = """\n[grants.x]\nfoo = 1\n"""\nunti = "row"\n'
    assert refused(folder, text.replace("note = 3\n", "\n")).startswith("discreet.toml:7: key 'unti'")


@pytest.mark.parametrize("text", ["a = " + "1" * 5000, "a = " + "[" * 3000])
def test_numbers_and_nestings_that_python_gives_up_on_are_refused(tmp_path, text):
    (tmp_path / "discreet.toml").write_text(text)
    with pytest.raises(Refusal, match="no policy needs"):
        read(tmp_path / "discreet.toml")


def test_a_home_of_nobody_is_refused_where_it_stands(tmp_path):
    lines = ("[tables.visits]", 'source = "~nobody-of-that-name/visits.csv"', 'unit = "row"', "columns = {}")
    (tmp_path / "discreet.toml").write_text("\n".join(lines))
    with pytest.raises(Refusal, match=r"discreet.toml:2: source=.*~ names nobody here"):
        read(tmp_path / "discreet.toml")


def test_a_policy_says_where_files_and_heads_are_kept(tmp_path):
    place = tmp_path / "discreet.toml"
    place.write_text('[artefacts]\nfolder = "published"\nlargest = 5\n[anchor]\nrequired = true\nlog = "heads.log"\n')
    with Curator(tmp_path / "vault.discreet") as curator:
        assert [each.action for each in read(place).apply(curator)] == ["artefacts set", "anchors set"]
        assert [each.action for each in read(place).apply(curator)] == ["left", "left"]
        policy, anchors = curator.ledger.artefact_policy(), curator.ledger.anchor_policy()
        assert (policy.folder, policy.largest) == (str(tmp_path / "published"), 5)
        assert (anchors.required, anchors.log, anchors.path) == (True, str(tmp_path / "heads.log"), None)
        assert (tmp_path / "heads.log").stat().st_size > 0


def test_a_policy_requires_anchors_in_a_word_and_refuses_any_other(tmp_path):
    place = tmp_path / "discreet.toml"
    place.write_text('anchor = "required"\n')
    with Curator(tmp_path / "vault.discreet") as curator:
        assert [each.action for each in read(place).apply(curator)] == ["anchors set"]
        assert curator.anchors().required
        place.write_text('anchor = "usual"\n')
        assert [each.action for each in read(place).apply(curator)] == ["anchors set"]
        assert not curator.anchors().required
    place.write_text('anchor = "perhaps"\n')
    with pytest.raises(Refusal, match="anchor"):
        read(place)


def test_approval_and_alerts_are_set_by_the_file(tmp_path):
    with Curator(tmp_path / "vault.discreet") as curator:
        terms = {
            "unit": person("id", max_rows=1),
            "columns": {"n": between(0, 9)},
            "budget": Budget(epsilon=1),
        }
        curator.register("visits", {"id": [1], "n": [2]}, **terms)
        file = tmp_path / "discreet.toml"
        file.write_text('[approval]\ntables = ["visits"]\n[alerts]\nbelow = [0.5, 0.1]\n')
        assert [each.action for each in read(file).apply(curator)] == ["charging set"]
        assert [each.action for each in read(file).apply(curator)] == ["left"]
        policy = curator.charging()
        assert (policy.approval, [*map(float, policy.alerts)]) == (("visits",), [0.5, 0.1])
        for wrong in (
            "[approval]\n",
            "[approval]\ntables = 7\n",
            "[alerts]\nbelow = [2]\n",
            '[approval]\ntables = ["x"]\n',
        ):
            file.write_text(wrong)
            with pytest.raises(Refusal, match=r"discreet\.toml:"):
                read(file).apply(curator)


def test_a_policy_says_below_how_many_people_groups_are_withheld(tmp_path):
    place = tmp_path / "discreet.toml"
    place.write_text("[withhold]\nbelow = 10\n")
    with Curator(tmp_path / "vault.discreet") as curator:
        assert [each.action for each in read(place).apply(curator)] == ["withholding set"]
        assert [each.action for each in read(place).apply(curator)] == ["left"]
        assert curator.withhold().below == 10
    for wrong, said in (("below = -1", "whole numbers"), ("below = 1.5", "whole numbers"), ("", "below")):
        place.write_text(f"[withhold]\n{wrong}\n")
        with pytest.raises(Refusal, match=said):
            read(place)
