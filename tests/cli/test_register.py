"""discreet register: a table from the line or from discreet.toml."""

import pytest

from discreet.cli.shared.exits import Exit
from discreet.core.schema import between, one_of
from discreet.core.unit import person
from discreet.curator.curator import Curator
from tests.cli.vaults import PRICE, TERMS

POLICY = """
[tables.visits]
source = "visits.csv"
unit = { person = "patient_id", max_rows = 5 }
budget = { epsilon = 1 }
columns = { age = "0..110" }

[tables.more]
source = "more.csv"
unit = "row"
budget = { rho = 0.1 }
columns = { n = "0..9" }
"""


def test_a_table_is_registered_from_the_line(folder, run):
    run("init")
    code, out, _ = run("register", "visits", "visits.csv", *TERMS, *PRICE, "--rows", "1200", "--group", "patients")
    assert code == Exit.DONE
    assert "Table visits is registered, version 1." in out
    assert "a total budget of epsilon=3, delta=1e-06 (account patients)" in " ".join(out.split())
    with Curator("vault.discreet", create=False) as curator:
        found = curator.table("visits")
    assert found.table.unit == person("patient_id", max_rows=5)
    assert found.table["age"] == between(0, 110).named("age")
    assert found.table["ward"] == one_of("A", "B", "C").named("ward")
    assert (found.table.rows, found.account) == (1200, "patients")


def test_rows_are_capped_by_group_and_chosen_from_the_line(folder, run, result):
    run("init")
    caps = ("--max-groups", "2", "--max-rows-per-group", "3")
    found = result("register", "visits", "visits.csv", *TERMS, *caps, *PRICE)
    assert found["table"]["unit"]["max_rows_per_group"] == 3
    chosen = result("register", "more", "visits.csv", *TERMS, "--group", "visits", "--auto-rows", "0.5")
    assert chosen["bought"]["most"] == 5
    assert chosen["table"]["unit"]["max_rows"] == chosen["bought"]["rows"]


def test_json_has_the_declaration(vault, result):
    found = result("register", "visits", "visits.csv", *TERMS, *PRICE)
    assert (found["name"], found["version"], found["account"]) == ("visits", 1, "visits")
    assert [column["name"] for column in found["table"]["columns"]] == ["age", "ward"]


def test_the_whole_policy_is_applied_or_one_table_of_it(folder, run, result):
    run("init")
    (folder / "discreet.toml").write_text(POLICY)
    (folder / "more.csv").write_text("n\n1\n")
    assert [each["name"] for each in result("register", "more")["applied"]] == ["more"]
    applied = result("register")["applied"]
    assert [(each["name"], each["action"]) for each in applied] == [("visits", "registered"), ("more", "left")]
    assert "table visits: unchanged" in run("register", "visits")[1]


def test_a_policy_without_tables_says_so(folder, run):
    run("init")
    assert run("register")[:2] == (Exit.DONE, "discreet.toml describes nothing to apply.\n")


def test_the_policy_says_which_vault_unless_the_line_does(folder, run):
    (folder / "more.csv").write_text("n\n1\n")
    (folder / "discreet.toml").write_text('vault = "named.discreet"\n' + POLICY)
    run("init", "named.discreet")
    run("init", "other.discreet")
    assert run("register", "more")[0] == Exit.DONE
    assert run("register", "more", "--vault", "other.discreet")[0] == Exit.DONE
    for name in ("named.discreet", "other.discreet"):
        with Curator(name, create=False) as curator:
            assert curator.tables() == ["more"]


def test_a_key_with_a_comma_in_it_stands_in_double_quotes(folder, run):
    run("init")
    words = ("--unit", "row", "--column", 'ward=A, "Intensive, Care"', *PRICE)
    assert run("register", "visits", "visits.csv", *words)[0] == Exit.DONE
    with Curator("vault.discreet", create=False) as curator:
        assert curator.table("visits").table["ward"].keys == ("A", "Intensive, Care")


REFUSED = [
    (("visits", "visits.csv", "--unit", "row", "--column", 'age="A', *PRICE), Exit.USAGE, "a double quote opens"),
    (("visits", "visits.csv", "--unit", "row", "--column", "age=9..0", *PRICE), Exit.USAGE, "--column age=9..0: low"),
    (("visits", "visits.csv", *TERMS), Exit.USAGE, "the budget is missing"),
    (("visits", "visits.csv", "--column", "age=0..110", *PRICE), Exit.USAGE, "--unit is missing"),
    (("visits", "none.csv", *TERMS, *PRICE), Exit.REFUSED, "there is none"),
    (("visits", "visits.csv", *TERMS), Exit.USAGE, "set the privacy loss it may incur"),
    (("visits", "visits.csv", "--column", "age=0..110", *PRICE), Exit.USAGE, "use --unit row"),
    (("visits", "visits.csv", "--unit", "row", "--column", "agee=0..110", *PRICE), Exit.USAGE, "did you mean 'age'?"),
    (("visits", "visits.csv", "--unit", "row", "--column", "age", *PRICE), Exit.USAGE, "write NAME=WHAT"),
    (("visits", "visits.csv", "--unit", "row", *PRICE), Exit.USAGE, "declare at least one column"),
    (("visits", "visits.csv", *TERMS, *PRICE, "--from", "discreet.toml"), Exit.USAGE, "described on the line already"),
    (("visits", *PRICE), Exit.USAGE, "give TABLE and SOURCE"),
    (("vists", "--from", "p.toml"), Exit.USAGE, "did you mean 'visits'?"),
    (("--from", "none.toml"), Exit.USAGE, "write one with discreet init"),
]


@pytest.mark.parametrize(("words", "code", "said"), REFUSED)
def test_what_is_refused_says_the_fix(folder, run, words, code, said):
    run("init")
    (folder / "p.toml").write_text(POLICY)
    found, out, err = run("register", *words)
    assert (found, out) == (code, "")
    assert said in err


def test_a_vault_has_to_be_there(folder, run):
    code, _, err = run("register", "visits", "visits.csv", *TERMS, *PRICE)
    assert code == Exit.REFUSED
    assert "run discreet init vault.discreet" in err
    assert not (folder / "vault.discreet").exists()


def test_a_raised_budget_is_refused(vault, run):
    code, _, err = run("register", "visits", "visits.csv", *TERMS, "--epsilon", "4", "--delta", "1e-6")
    assert code == Exit.REFUSED
    assert "a permanent guarantee" in err


def test_a_delimiter_can_be_given(folder, run):
    run("init")
    (folder / "s.csv").write_text("n;m\n1;2\n")
    words = ("--delimiter", ";", "--unit", "row", "--column", "m=0..9", "--rho", "0.1")
    assert run("register", "s", "s.csv", *words)[0] == Exit.DONE


def test_numbers_of_thousands_of_digits_are_refused(folder, run, result):
    run("init")
    digits = "9" * 5000
    for words in (("--max-rows", digits, "--column", "age=0..110"), ("--max-rows", "5", "--column", f"age={digits},1")):
        found = result("register", "visits", "visits.csv", "--unit", "person:patient_id", *words, "--epsilon", "1")
        assert found["kind"] == "BadParameter"


def test_a_budget_beyond_every_float_is_registered_and_written(folder, run):
    run("init")
    code, out, _ = run("register", "visits", "visits.csv", *TERMS, "--epsilon", "1e390")
    assert code == Exit.DONE
    assert "epsilon=1e+390" in " ".join(out.split())


def test_a_copy_in_another_format_is_refused_in_the_words_of_the_line(vault, run, tmp_path):
    import gzip

    words = ("--unit", "person:patient_id", "--max-rows", "2", "--column", "age=0..110", "--epsilon", "1")
    rows = "patient_id,age\n" + "".join(f"{number},7\n" for number in range(7000, 7050))
    (tmp_path / "a.csv").write_text(rows)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(rows.encode()))
    assert run("register", "a", str(tmp_path / "a.csv"), *words)[0] == Exit.DONE
    code, _, err = run("register", "b", str(tmp_path / "b.csv.gz"), *words)
    assert code == Exit.REFUSED
    assert "register it with --group a, or with --people distinct" in " ".join(err.split())
    assert run("register", "b", str(tmp_path / "b.csv.gz"), *words, "--people", "distinct")[0] == Exit.DONE
