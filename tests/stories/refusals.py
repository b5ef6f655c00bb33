"""Every refusal on the way from a file to an answer: what one writes, and what one is told."""

import re
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pandas as pd

import discreet as dp
from discreet.curator.curator import Curator

PAGE = Path(__file__).parents[2] / "docs" / "refusals.md"
EXTRAS = ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg", "pandas", "polars", "pyarrow")
BEGIN, END = "<!-- refusals: begin -->", "<!-- refusals: end -->"

# Steps, and what is written in each; `visits` has people, `sales` rows, and the budgets are as declared below.
STEPS = {
    "Declaring": [
        "dp.between(110, 0)",
        "dp.between(0, float('inf'))",
        "dp.between(0, 1, step=0)",
        "dp.one_of()",
        "dp.one_of('A', 'A')",
        "dp.person('patient_id', max_rows=0)",
        "dp.row(relation='swap')",
        "dp.Budget()",
        "dp.Budget(epsilon=0)",
        "dp.Budget(epsilon=1, rho=1)",
    ],
    "Registering": [
        "dp.connect('nowhere.discreet', token)",
        "curator.register('more', 'nowhere.csv', **declared)",
        "curator.register('more', 'visits.xlsx', **declared)",
        "curator.register('more', 'visits.csv', **{**declared, 'columns': {'agee': dp.between(0, 110)}})",
        "curator.register('more', 'visits.csv', **{**declared, 'unit': dp.person('patient', max_rows=2)})",
        "curator.register('more', 'more.csv', **{**declared, 'budget': None})",
        "curator.register('visits', 'visits.csv', **{**declared, 'budget': dp.Budget(epsilon=9)})",
        "curator.refresh('visist')",
        "curator.grant('bob', 'visist')",
        "curator.grant('bob')",
    ],
    "Connecting": [
        "dp.connect('vault.discreet', 'no token at all')",
        "dp.connect('vault.discreet', token[:-1] + ('a' if token[-1] != 'a' else 'b'))",
        "dp.connect('vault.discreet', expired)",
        "dp.connect('vault.discreet', revoked)",
        "session.table('visist')",
        "session.table('secrets')",
    ],
    "Asking": [
        "visits.agee",
        "visits.where()",
        "visits.where(visits.age)",
        "visits.where(18 <= visits.age <= 65)",
        "visits.where(visits.ward == 'Z')",
        "visits.where(visits.age == 'old')",
        "visits.group_by()",
        "visits.group_by('ward').where(visits.age >= 18)",
        "visits.group_by('ward').group_by('urgent')",
        "visits.group_by('city', keys={'ciy': ['Bern']})",
        "visits.group_by('ward', keys={'ward': ['A', 'Z']})",
        "visits.select('wrad')",
        "visits.join(visits, on='ward')",
        "visits.join(visits, most=0, columns={'their_cost': 'cost'})",
        "visits.join(sales, columns=['x'])",
        "visits.join(wards)",
        "visits.join(wards, on='floor')",
        "visits.union(sales)",
        "visits.partition('city')",
        "visits.partition('ward').release(lambda part: visits.count(), epsilon=1)",
        "visits.agg()",
        "visits.agg(n='count')",
        "visits.agg(n=dp.count)",
        "visits.agg(n=dp.count(), by=dp.histogram('ward'))",
        "visits.group_by('ward').agg(ward=dp.count())",
        "visits.agg(x=dp.quantile('age', 1.5))",
        "visits.agg(x=dp.mean('agee')).preview(epsilon=1)",
        "visits.agg(x=dp.mean('ward')).preview(epsilon=1)",
        "visits.agg(x=dp.mean('urgent')).preview(epsilon=1)",
        "visits.agg(x=dp.histogram('city')).preview(epsilon=1)",
        "visits.agg(x=dp.histogram('age', edges=[10, 5])).preview(epsilon=1)",
        "visits.agg(x=dp.top_k('ward', 9)).preview(epsilon=1)",
    ],
    "Paying": [
        "visits.count().release()",
        "visits.count().release(epsilon=1, rho=1)",
        "visits.count().release(epsilon=0)",
        "visits.count().release(epsilon=-1)",
        "visits.count().release(epsilon=float('nan'))",
        "visits.count().release(epsilon='1')",
        "visits.count().release(epsilon=1, delta=2)",
        "visits.count().release(epsilon=5)",
        "bob.count().release(epsilon=0.75)",
        "visits.group_by('city').agg(n=dp.count()).release(epsilon=1)",
        "visits.count().release(epsilon=1, max_rows=50)",
        "sales.count().release(epsilon=1, max_rows=1)",
        "visits.agg(n=dp.count(), cost=dp.mean('cost')).weighted(coast=2)",
        "visits.agg(n=dp.count(), cost=dp.mean('cost')).weighted(n=0)",
        "visits.agg(cost=dp.mean('cost')).for_error(cost=3)",
        "visits.agg(n=dp.count(), cost=dp.mean('cost')).for_error(n=3)",
        "visits.count().for_error(count=0)",
        "visits.count().preview(epsilon=1)['n']",
        "changed.count().release(epsilon=1)",
    ],
    "Reading the answer": [
        "answer['m']",
        "answer.cell('Z')",
        "answer.value('n')",
        "bool(answer['n'] > 3)",
    ],
    "Without an extra": [
        "answer.plot()",
        "visits.count().preview(epsilon=1).plot()",
        "answer.to_pandas()",
        "answer.to_polars()",
        "answer.to_arrow()",
    ],
}


def world(folder, more=""):
    """Make the files, the vault and the sessions that the examples speak of; `more` are rows of visits."""
    people = f"patient_id,ward,age,cost,city,urgent\n1,A,41,10,Bern,true\n2,B,7,20,Basel,false\n{more}"
    for name in ("visits.csv", "visits.xlsx"):
        (folder / name).write_text(people)
    (folder / "more.csv").write_text(people + "3,A,50,30,Rom,true\n")
    (folder / "changed.csv").write_text("x\n1\n")
    declared = {
        "unit": dp.person("patient_id", max_rows=20),
        "columns": {
            "ward": dp.one_of("A", "B"),
            "age": dp.between(0, 110),
            "cost": dp.between(0, 500),
            "city": dp.text(),
            "urgent": dp.flag(),
        },
        "budget": dp.Budget(epsilon=3),
    }
    curator = Curator(folder / "vault.discreet")
    curator.register("visits", folder / "visits.csv", **declared)
    single = {"unit": dp.row(), "columns": {"x": dp.between(0, 9)}, "budget": dp.Budget(epsilon=1)}
    curator.register("sales", pd.DataFrame({"x": [1, 2]}), **single)
    curator.register("secrets", pd.DataFrame({"x": [3]}), **single)
    curator.register("changed", folder / "changed.csv", people="distinct", **single)
    token = curator.grant("alice", ["visits", "sales", "changed"])
    bob = curator.grant("bob", "visits", budget=dp.Budget(epsilon=0.5))
    revoked = curator.grant("carol", "visits")
    curator.revoke("carol")
    with patch("discreet.ledger.custody.check_expires", lambda expires, _: expires.isoformat() if expires else ""):
        expired = curator.grant("dave", "visits", expires="2020-01-01")
    (folder / "changed.csv").write_text("x\n2\n")
    session = curator.session(token)
    visits = session.table("visits")
    return {
        "dp": dp,
        "curator": curator,
        "declared": declared,
        "token": token,
        "bobs": bob,
        "expired": expired,
        "revoked": revoked,
        "session": session,
        "visits": visits,
        "sales": session.table("sales"),
        "changed": session.table("changed"),
        "bob": curator.session(bob).table("visits"),
        "wards": session.public("wards", {"ward": ["A", "B"], "floor": [1, 2]}),
        "answer": visits.group_by("ward").agg(n=dp.count()).release(epsilon=0.1),
    }


@contextmanager
def absent(packages):
    """Make packages fail to import, and leave alone what is imported meanwhile: a second copy has other classes."""
    before = {name: sys.modules[name] for name in packages if name in sys.modules}
    sys.modules.update(dict.fromkeys(packages))
    try:
        yield
    finally:
        for name in packages:
            del sys.modules[name]
        sys.modules.update(before)


def refused(line, names, step=""):
    """Run a line and return its refusal; None if there is none."""
    try:
        with absent(EXTRAS if step == "Without an extra" else ()):
            eval(line, dict(names))
    except dp.Refusal as refusal:
        return refusal
    return None


def written(folder, names):
    """Write all refusals as the page shows them."""
    lines = []
    for step, examples in STEPS.items():
        lines += [f"### {step}", ""]
        for line in examples:
            refusal = refused(line, names, step)
            text = "NOT REFUSED" if refusal is None else f"{type(refusal).__name__}: {refusal}"
            lines += ["```text", f">>> {line}", _plain(text, folder), "```", ""]
    return "\n".join(lines)


def shown():
    """What the page has between its marks."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def rewrite(folder):
    """Put the refusals as they are now between the page's marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    text = written(folder, world(folder)).strip()
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _plain(text, folder):
    """Take out what differs from run to run: the folder, and names that were drawn at random."""
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    return re.sub(r"\b[0-9a-f]{8,}\b", "...", text)
