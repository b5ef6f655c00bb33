"""discreet collect: from a signed collection to an estimate with error bars, in a folder."""

import json
import threading
from contextlib import contextmanager

import pytest

from discreet.cli.shared.exits import Exit
from discreet.local.collection import read
from discreet.local.sender import NotAccepted, Sender
from discreet.serve.collector import collector_app, listen
from discreet.serve.receive import Receiver
from discreet.serve.sqlite_sketches import SqliteSketches

INIT = ("collect", "init", "survey", "unary:k=5,epsilon=2", "--minimum", "100", "--epochs", "3")


@pytest.fixture
def survey(folder, run):
    assert run(*INIT)[0] == Exit.DONE
    return folder / "survey"


@contextmanager
def served(survey):
    """The collector of a folder, in a thread of this process."""
    import uvicorn

    text = (survey / "collection.json").read_text()
    collection = read(text)
    store = SqliteSketches(survey / "collector.sqlite", collection)
    config = uvicorn.Config(
        collector_app(Receiver(collection, store), text), log_level="warning", access_log=False, lifespan="off"
    )
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            store.disconnect()


@pytest.fixture
def filled(survey, folder, result):
    """A survey with 2,000 reports in epoch 0 and 400 in epoch 1."""
    (folder / "zero.txt").write_text("0\n1\n" * 1000)
    (folder / "one.txt").write_text("0\n1\n" * 200)
    with served(survey) as url:
        assert result("collect", "send", "survey", "zero.txt", "--url", url, "--batch", "300")["sent"] == 2000
        sent = result("collect", "send", "survey/collection.json", "one.txt", "--url", url, "--epoch", "1")
        assert (sent["sent"], sent["epoch"]) == (400, 1)
    return survey


def test_a_collection_is_made_and_signed_and_its_key_is_private(survey, result):
    found = read((survey / "collection.json").read_text())
    assert (found.name, found.epochs, found.minimum) == ("survey", 3, 100)
    assert found.protocol.k == 5
    assert (survey / "collection.key").stat().st_mode & 0o777 == 0o600
    made = result("collect", "init", "other", "hadamard:k=100,epsilon=0.5", "--name", "start pages")
    assert made["collection"]["name"] == "start pages"
    assert 0.499 < made["epsilon"] <= 0.5
    assert made["bytes_per_report"] == 1


def test_a_folder_holds_one_collection(survey, run):
    code, _, err = run(*INIT)
    assert code == Exit.REFUSED
    assert "a collection in it already" in err


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("unarry:k=5,epsilon=1", "did you mean 'unary'"),
        ("unary:k=5", "it has other parameters"),
        ("unary:k", "a name, an equals sign and a value"),
        ("unary:k=1,epsilon=1", "k=1"),
    ],
)
def test_a_protocol_that_is_none_is_refused_and_nothing_is_made(folder, run, protocol, said):
    code, _, err = run("collect", "init", "survey", protocol)
    assert code == Exit.USAGE
    assert said in err
    assert not (folder / "survey").exists()


def test_words_and_truth_values_reach_the_protocol(folder, result):
    made = result("collect", "init", "survey", "unary:k=5,epsilon=1/2,symmetric=true")
    assert made["collection"]["protocol"]["epsilon"] == {"fraction": "1/2"}


def test_reports_are_sent_and_estimated_with_error_bars(filled, result):
    found = result("collect", "estimate", "survey")["estimate"]
    assert found["reports"] == 2400
    rows = {row["name"]: row for row in found["rows"]}
    # Five standard errors: less than one in a million, twice.
    assert all(abs(rows[value]["value"] - 1200) < 5 * 60 for value in (0, 1))
    assert all(row["low"] < row["value"] < row["high"] for row in found["rows"])


def test_epochs_are_estimated_apart(filled, result):
    assert result("collect", "estimate", "survey", "--epoch", "1")["estimate"]["reports"] == 400
    both = result("collect", "estimate", "survey", "--epoch", "0", "--epoch", "1", "--top", "2", "--post", "simplex")
    assert both["estimate"]["reports"] == 2400
    assert {row["name"] for row in both["estimate"]["rows"]} == {0, 1}


def test_an_estimate_waits_for_the_minimum(survey, run):
    code, _, err = run("collect", "estimate", "survey")
    assert code == Exit.REFUSED
    assert "guarantees to wait for 100" in err


def test_an_estimate_is_shown_drawn_and_bounded_against_fakes(filled, run, folder):
    code, out, _ = run("collect", "estimate", "survey", "--fakes", "10", "--plot", "survey.svg")
    assert code == Exit.DONE
    assert "10 fake reports could move each raw estimate" in out
    assert (folder / "survey.svg").read_text().startswith("<?xml")


def test_exported_sketches_of_another_collector_are_added(filled, folder, result):
    made = result("collect", "export", "survey", "other.parquet")
    assert (made["epochs"], made["reports"]) == ([0, 1], 2400)
    with served(filled) as url:
        assert result("collect", "send", "survey", "zero.txt", "--url", url)["sent"] == 2000
        assert result("collect", "send", "survey", "one.txt", "--url", url, "--epoch", "1")["sent"] == 400
    assert result("collect", "estimate", "survey", "--with", "other.parquet")["estimate"]["reports"] == 7200
    found = result("collect", "estimate", "survey", "--epoch", "1", "--with", "other.parquet")
    assert found["estimate"]["reports"] == 1200


def test_an_export_of_the_same_store_is_not_counted_twice(filled, result):
    result("collect", "export", "survey", "own.parquet")
    found = result("collect", "estimate", "survey", "--with", "own.parquet")
    assert "counted already" in found["why"]
    result("collect", "export", "survey", "again.parquet")
    found = result("collect", "estimate", "survey", "--epoch", "2", "--with", "own.parquet", "--with", "again.parquet")
    assert found["kind"] == "TooFewReports"


def test_status_shows_epochs_rejections_and_closing(filled, result, run):
    record = result("collect", "status", "survey")
    assert [(row["epoch"], row["reports"]) for row in record["epochs"]] == [(0, 2000), (1, 400)]
    assert record["rejected"] == {}
    assert record["outliers"] == []
    assert result("collect", "close", "survey", "--epoch", "0")["closed"] == [0]
    _, out, _ = run("collect", "status", "survey")
    assert "closed" in out
    assert "Nothing was rejected" in out
    assert result("collect", "close", "survey")["closed"] == [0, 1, 2]


def test_an_epoch_unlike_the_others_is_pointed_out(survey, folder, run, result):
    (folder / "alike.txt").write_text("0\n1\n2\n3\n" * 500)
    (folder / "odd.txt").write_text("4\n" * 1000)
    with served(survey) as url:
        for epoch, name in enumerate(["alike.txt", "alike.txt", "odd.txt"]):
            run("collect", "send", "survey", name, "--url", url, "--epoch", str(epoch))
    found = result("collect", "status", "survey")["outliers"]
    assert found[0]["epoch"] == 2
    assert "Epoch 2 is unlike the others" in run("collect", "status", "survey")[1]


def test_a_closed_epoch_takes_nothing_more(survey, folder, run):
    (folder / "values.txt").write_text("1\n")
    run("collect", "close", "survey")
    with served(survey) as url:
        code, _, err = run("collect", "send", "survey", "values.txt", "--url", url)
    assert code == Exit.REFUSED
    assert "the epoch is closed" in err


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("1\nsecret\n", (), "line 2"),
        ("1\n--2\n", (), "line 2"),
        ("1\n9\n", (), "from 0 to 4"),
        ("1\n", ("--epoch", "3"), "epochs 0 to 2"),
        ("1\n", ("--batch", "0"), "--batch 0"),
        ("1\n", ("--key", "ab" * 32), "another key"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(survey, folder, run, text, words, said):
    (folder / "values.txt").write_text(text)
    code, out, err = run("collect", "send", "survey", "values.txt", "--url", "http://127.0.0.1:1", *words)
    assert code != Exit.DONE
    assert said in err
    assert "secret" not in out + err


def test_a_folder_without_a_collection_is_refused(folder, run):
    code, _, err = run("collect", "status", "nowhere")
    assert code == Exit.REFUSED
    assert "discreet collect init" in err


def test_a_store_that_is_no_address_is_refused_without_repeating_it(survey, run):
    code, _, err = run("collect", "status", "survey", "--store", "mysql://user:password@host/x")
    assert code == Exit.USAGE
    assert "password" not in err


@pytest.mark.xdist_group("collector")
def test_sketches_live_in_postgresql_where_an_address_is_given(folder, run, result):
    from tests.postgres import shared

    url = shared().database()
    made = result("collect", "init", "survey", "unary:k=5,epsilon=1", "--store", url)
    assert not (folder / "survey" / "collector.sqlite").exists()
    assert result("collect", "status", "survey", "--store", url)["hash"] == made["hash"]
    assert result("collect", "close", "survey", "--store", url)["closed"] == [0]


def test_every_part_of_the_command_prints_json(survey, run):
    code, out, _ = run("collect", "status", "survey", "--json")
    assert code == Exit.DONE
    assert json.loads(out)["command"] == "collect status"


def test_where_sending_ends_early_it_says_what_must_not_be_sent_again(survey, folder, run, monkeypatch):
    (folder / "values.txt").write_text("1\n" * 50)
    taken = []

    def send(self, reports, epoch):
        if taken:
            raise NotAccepted("collector", why="it does not answer", fix="check that it runs")
        taken.append(len(reports))

    monkeypatch.setattr(Sender, "send", send)
    code, _, err = run("collect", "send", "survey", "values.txt", "--batch", "20")
    assert code == Exit.REFUSED
    assert "30 of 50 reports" in " ".join(err.split())
    assert "skip the first 20 values" in " ".join(err.split())


@pytest.mark.parametrize(
    "address", ["postgresql://me:hunter2@host/db", "postgresql://me@host/db?password=hunter2"], ids=["user", "option"]
)
def test_a_password_in_the_address_of_a_store_is_refused_and_not_repeated(survey, run, address):
    code, out, err = run("collect", "status", "survey", "--store", address)
    assert code == Exit.USAGE
    assert "password" in err
    assert "hunter2" not in out + err


def test_a_folder_with_the_key_of_another_collection_is_left_as_it_is(folder, run):
    (folder / "survey").mkdir()
    (folder / "survey" / "collection.key").write_text("theirs")
    code, out, err = run("collect", "init", "survey", "unary:k=5,epsilon=2")
    assert (code, out) == (Exit.REFUSED, "")
    assert "collection.key" in err
    assert [each.name for each in (folder / "survey").iterdir()] == ["collection.key"]
