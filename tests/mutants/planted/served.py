"""Planted bugs of the HTTP interface: limits, tokens, folders, replays; and of the auditor that looks at linked rows."""

from tests.mutants.mutant import SourceMutant

APP = ("serve/api/test_app.py",)

MUTANTS = [
    SourceMutant(
        "serve/api/limits.py",
        "if self._working >= self._concurrent:",
        "if self._working > self._concurrent:",
        "a token has one request more answered at once than it may",
        ("serve/api/test_limits.py",),
    ),
    SourceMutant(
        "serve/api/limits.py",
        "min(float(self._burst), self._left + (now - self._seen) * self._rate)",
        "self._left + (now - self._seen) * self._rate",
        "a token that rests saves up requests without end",
        ("serve/api/test_limits.py",),
    ),
    SourceMutant(
        "serve/api/desks.py",
        "            found.desk.admit()\n",
        "            found.desk\n",
        "a token that was revoked goes on while its desk is kept",
        (*APP, "serve/api/routes/test_requests.py"),
    ),
    SourceMutant(
        "serve/api/desks.py",
        "if found is None or (self._openid is not None and is_openid(token)):",
        "if found is None:",
        "an issuer's token that has expired goes on while its desk is kept",
        ("serve/api/test_openid.py",),
    ),
    SourceMutant(
        "serve/api/openid.py",
        'options={"require": ["exp", "iss", "aud"]},',
        'options={"require": []},',
        "an issuer's token that never expires is believed",
        ("serve/api/test_openid.py",),
    ),
    SourceMutant(
        "serve/api/openid.py",
        'options={"require": ["exp", "iss", "aud"]},',
        'options={"require": ["exp", "iss", "aud"], "verify_aud": False},',
        "a token that was signed for another server is believed",
        ("serve/api/test_openid.py",),
    ),
    SourceMutant(
        "serve/api/routes/custody.py",
        "any(place.is_relative_to(root) for root in self.folders)",
        "any(str(place).startswith(root) for root in self.folders)",
        "a folder whose name begins like an allowed one is allowed",
        ("serve/api/routes/test_custody.py",),
    ),
    SourceMutant(
        "serve/api/routes/custody.py",
        'if place.is_dir() and any(not each.resolve().is_relative_to(place) for each in place.rglob("*")):',
        "if place.is_dir() and not place.name:",
        "a link inside an allowed folder leads out of it",
        ("serve/api/routes/test_custody.py",),
    ),
    SourceMutant(
        "serve/api/routes/requests.py",
        'if getattr(request.spec, "sql", False):',
        'if getattr(request.spec, "sql", None) == 0 and not request.verb:',
        "a preview over HTTP tells an analyst where tables lie",
        ("serve/api/routes/test_requests.py",),
    ),
    SourceMutant(
        "serve/api/settings.py",
        "if tls or behind_proxy or is_loopback(host):",
        "if tls or behind_proxy or host:",
        "a server listens where tokens cross a network in the clear",
        ("serve/api/test_server.py", *APP),
    ),
    SourceMutant(
        "plan/dimension.py",
        "matched.issuperset(columns)",
        "matched.intersection(columns)",
        "a part of a public table's key passes for all of it",
        ("plan/test_dimension.py",),
    ),
    SourceMutant(
        "plan/dimension.py",
        '            "version": self.version,\n',
        '            "version": 1,\n',
        "a question about an older state of a public table passes for the same question",
        ("plan/test_dimension.py",),
    ),
    SourceMutant(
        "plan/referents.py",
        "        case Derive(source, made):\n            return made != name and is_unique(source, name, tables)",
        "        case Derive(source, made):\n            return is_unique(source, name, tables)",
        "a new column in a key's place passes for the key",
        ("plan/test_referents.py",),
    ),
    SourceMutant(
        "lab/audits/release/laws.py",
        "if isinstance(each, NestedQuantiles)}\n    if not nested:",
        "if isinstance(each, NestedQuantiles)}\n    if nested:",
        "an audit counts the cells of an interval around other points in every run",
        (
            "lab/audits/release/test_planted.py::test_draws_alone_show_what_is_wrong_with_the_noise_of_the_cells_of_an_interval",
        ),
    ),
    SourceMutant(
        "lab/audits/release/comparison.py",
        "Fraction(claim.loss.peak) - (Fraction(chosen.peak) if chosen is not None else 0),",
        "Fraction(claim.loss.peak),",
        "an audit lets the noise of an interval cost what was paid for its points",
        (
            "lab/audits/release/test_planted.py::test_a_planted_defect_is_flagged[cells noisy for one row of a person-quantile-1]",
        ),
    ),
    SourceMutant(
        "lab/audits/linked_rows.py",
        "own[via.table, via.key].get(who, []) if who is not None else []",
        "[one for found in own[via.table, via.key].values() for one in found]",
        "made-up rows of a linked table lead to other people",
        ("lab/audits/test_linked_rows.py",),
    ),
]
