"""discreet bill: work that is done elsewhere is charged, by the custodian or an analyst."""

from discreet.cli.shared.exits import Exit


def test_a_bill_is_charged_and_a_retry_is_not(vault, result, run):
    words = "bill", "visits", "--loss", "gaussian:40@0.01*100", "--label", "training", "--key", "7"
    first = result(*words)
    assert (first["label"], first["tables"], first["replayed"]) == ("training", ["visits"], False)
    assert first["losses"]["visits"]["kind"] == "Composed"
    again = result(*words)
    assert (again["sequence"], again["head"], again["replayed"]) == (first["sequence"], first["head"], True)
    code, out, _ = run(*words)
    assert code == Exit.DONE
    assert out.startswith(f"'training' was billed before, as entry {first['sequence']}: nothing is charged.\n")
    assert run("verify", "--head", first["head"])[0] == Exit.DONE


def test_an_analyst_bills_under_their_cap(vault, result, run):
    token = result("grant", "ann", "visits", "--epsilon", "0.5", "--delta", "1e-7")["token"]
    words = "bill", "visits", "--loss", "pure:0.4", "--label", "training", "--token", token
    assert "sequence" in result(*words)
    code, _, err = run(*words)
    assert code == Exit.BUDGET
    assert "the cap of ann" in err


def test_a_local_collection_is_billed(vault, result, run):
    run("collect", "init", "survey", "unary:k=4,epsilon=0.25", "--epochs", "2")
    refused = result("bill", "visits", "--collection", "survey", "--label", "survey")
    assert "local privacy hold under 'replace'" in refused["fix"]


def test_what_is_no_loss_is_refused_and_charges_nothing(vault, result, run):
    before = result("verify")["entries"]
    for words, said in (
        ((), "one loss"),
        (("--loss", "pure:-1"), "means nothing here"),
        (("--loss", "pure:0"), "it loses nothing"),
        (("--loss", "magic:1"), "magic"),
    ):
        code, _, err = run("bill", "visits", *words, "--label", "training")
        assert code == Exit.USAGE
        assert said in err
    assert result("verify")["entries"] == before
    code, _, err = run("bill", "visits", "--loss", "pure:1e400", "--label", "training")
    assert code == Exit.BUDGET
    assert "ask for epsilon of at most 3" in err
