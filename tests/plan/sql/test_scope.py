"""Names in SQL: which stand in double quotes, and what is said where they, or a text's, are missing."""

import pytest

from discreet.plan.sql.scope import spelled
from tests.plan.sql.refusals import refusal
from tests.plan.sql.tables import read


@pytest.mark.parametrize("name", ["age", "Patient_ID", "x2", "_", "unit"])
def test_a_plain_word_needs_no_quotes(name):
    assert spelled(name) == name


@pytest.mark.parametrize(
    "name", ["Patient ID", "Age (years)", "a-b", "2nd", "select", "from", "Größe", 'a"b', "it's", ""]
)
def test_any_other_name_stands_in_double_quotes(name):
    assert spelled(name) == '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize(
    ("text", "value", "fix"),
    [
        ("SELECT COUNT(*) FROM files WHERE Age (years) > 3", "Age (years)", 'write "Age (years)", in double quotes'),
        ("SELECT AVG(age(years)) FROM files", "age(years)", 'write "Age (years)", in double quotes'),
        ("SELECT AVG(Length of stay) FROM files", "Length of stay", 'write "Length of stay", in double quotes'),
        ("SELECT COUNT(DISTINCT Patient ID) FROM files", "Patient ID", 'write "Patient ID", in double quotes'),
        (
            "SELECT COUNT(*) FROM files WHERE unit = Intensive Care",
            "Intensive Care",
            "in single quotes: 'Intensive Care'",
        ),
        ("SELECT COUNT(*) FROM files WHERE unit = Cardiology", "Cardiology", "single quotes: 'Cardiology'"),
        ("SELECT COUNT(*) FROM files WHERE cardiology = unit", "cardiology", "single quotes: 'Cardiology'"),
        ('SELECT COUNT(*) FROM files WHERE unit = "Cardiology"', '"Cardiology"', "single quotes: 'Cardiology'"),
        ("SELECT COUNT(*) FROM files WHERE unit IN (Surgery)", "Surgery", "single quotes: 'Surgery'"),
        ("SELECT COUNT(*) FROM visits WHERE city <> Bern", "Bern", "single quotes: 'Bern'"),
        (
            'SELECT COUNT("Patient ID") FROM files',
            'COUNT("Patient ID")',
            'write COUNT(DISTINCT "Patient ID") for people',
        ),
        ("SELECT COUNT(DISTINCT unit) FROM files", "COUNT(DISTINCT unit)", 'write COUNT(DISTINCT "Patient ID")'),
        ("SELECT COUNT(*) FROM files f JOIN files g ON f.a = g.a", "f.a = g.a", 'USING ("Patient ID")'),
        ("SELECT COUNT(*) FROM files JOIN drugs ON a = dose", "a = dose", 'ON files."Patient ID" = drugs.person'),
        ("SELECT COUNT(*) FROM files f JOIN drugs d ON f.a = d.dose", "f.a = d.dose", 'ON f."Patient ID" = d.person'),
        ('SELECT AVG("Age (year)") FROM files', '"Age (year)"', 'did you mean "Age (years)"?'),
    ],
)
def test_a_refusal_spells_names_and_texts_as_sql_has_them(text, value, fix):
    found = refusal(text)
    assert found.value == value
    assert fix in found.fix


@pytest.mark.parametrize(
    "text",
    [
        'SELECT AVG("Age (years)") FROM files',
        'SELECT COUNT(DISTINCT "Patient ID") FROM files',
        'SELECT COUNT(*) FROM files JOIN drugs ON files."Patient ID" = drugs.person',
        "SELECT COUNT(*) FROM files WHERE unit = 'Intensive Care'",
    ],
)
def test_what_the_fix_says_is_understood(text):
    assert read(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("SELECT COUNT(*) FROM files WHERE a - b > 3", "a column of the right kind"),  # each of them is a column
        ("SELECT AVG(age (years)) FROM visits", "CASE"),  # another table's name
        ("SELECT AVG(cardiology) FROM files", "use one of"),  # no text is averaged
        ("SELECT COUNT(*) FROM visits WHERE age = Bern", "use one of"),  # no text is compared
        ("SELECT COUNT(*) FROM files WHERE files.cardiology = unit", "use one of"),
    ],
)
def test_quotes_are_not_spoken_of_where_they_are_not_missing(text, fix):
    assert "quotes" not in refusal(text).fix
    assert fix in refusal(text).fix
