"""discreet init: a vault that only its owner can read, and a file to describe tables in."""

import stat
import tomllib

from discreet.cli.init import TEMPLATE
from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator
from discreet.curator.policy import read


def test_a_vault_is_made_for_its_owner_alone(folder, run):
    code, out, err = run("init")
    assert (code, err) == (Exit.DONE, "")
    assert stat.S_IMODE((folder / "vault.discreet").stat().st_mode) == 0o600
    for words in ("The vault is vault.discreet", "custodian's token", "public key", "head", "discreet.toml"):
        assert words in out


def test_json_has_what_is_to_be_kept(folder, result):
    found = result("init", "my.discreet")
    with Curator(folder / "my.discreet", create=False) as curator:
        assert curator.ledger.authenticate(found["token"]).role == "custodian"
        assert curator.verify(found["head"]).public_key == found["public_key"]
    assert (found["vault"], found["policy"]) == ("my.discreet", "discreet.toml")


def test_the_policy_it_writes_is_one_and_so_are_its_comments(folder, run):
    run("init", "my.discreet")
    assert read(folder / "discreet.toml").vault == folder / "my.discreet"
    lines = TEMPLATE.format(vault="v").splitlines()
    uncommented = [line.removeprefix("# ") for line in lines[3:] if line.strip("# ")]
    (folder / "whole.toml").write_text("\n".join(uncommented))
    assert set(tomllib.loads("\n".join(uncommented))) == {"vault", "tables", "windows", "withhold", "work", "grants"}
    assert [table.name for table in read(folder / "whole.toml").tables] == ["visits"]


def test_a_policy_that_is_there_is_left_alone(folder, result):
    (folder / "discreet.toml").write_text("# mine\n")
    assert result("init")["policy"] is None
    assert (folder / "discreet.toml").read_text() == "# mine\n"


POLICY = """
vault = "from.discreet"
[tables.visits]
source = "visits.csv"
unit = { person = "patient_id", max_rows = 5 }
budget = { epsilon = 1 }
columns = { age = "0..110" }
[grants.alice]
tables = ["visits"]
"""


def test_a_policy_is_applied_to_the_new_vault(folder, result):
    (folder / "discreet.toml").write_text(POLICY)
    found = result("init", "--from", "discreet.toml")
    assert [(each["kind"], each["action"]) for each in found["applied"]] == [
        ("table", "registered"),
        ("grant", "granted"),
    ]
    with Curator(folder / "from.discreet", create=False) as curator:
        assert curator.tables() == ["visits"]
        assert curator.ledger.authenticate(found["applied"][1]["token"]).analyst == "alice"


def test_a_policy_that_fails_leaves_no_vault(folder, run):
    (folder / "discreet.toml").write_text(POLICY.replace("age", "agee"))
    code, _, err = run("init", "--from", "discreet.toml")
    assert code == Exit.USAGE
    assert "discreet.toml:7: column of the source 'agee'" in err
    assert not list(folder.glob("from.discreet*"))


def test_a_vault_is_not_made_twice(folder, run):
    run("init")
    code, _, err = run("init")
    assert code == Exit.REFUSED
    assert "it already exists" in err


def test_the_environment_may_name_the_vault(folder, run, monkeypatch):
    monkeypatch.setenv("DISCREET_VAULT", "env.discreet")
    assert run("init")[0] == Exit.DONE
    assert (folder / "env.discreet").exists()


def test_tokens_and_keys_stay_whole_on_a_narrow_screen(folder, run, result, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    lines = run("init")[1].splitlines()
    found = result("verify")
    assert {found["head"], found["public_key"]} <= set(lines)
    assert len(lines[lines.index("custodian's token:") + 1]) == 61


def test_a_vault_of_any_name_is_named_in_a_policy_that_can_be_read(folder, run):
    assert run("init", 'my "own" {vault}.discreet')[0] == Exit.DONE
    assert read(folder / "discreet.toml").vault == folder / 'my "own" {vault}.discreet'


def test_the_token_is_shown_where_no_policy_can_be_written(folder, result, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.write_text", refused)
    found = result("init")
    assert found["policy"] is None
    with Curator(folder / "vault.discreet", create=False) as curator:
        assert curator.ledger.authenticate(found["token"]).role == "custodian"


def test_a_name_that_no_file_can_have_is_refused(folder, result):
    found = result("init", "x" * 300)
    assert (found["kind"], found["fix"]) == ("NotAVault", "choose a folder that exists and that you may write")
