"""The OpenAPI document against the app: generated requests, valid and not, find no failure and no surprise."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.serve.api.served import served

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ROLES = ("analyst", "custodian", "reader")
OPERATIONS = 19  # at least so many


@pytest.fixture
def fuzzed(tmp_path):
    with served(tmp_path) as made:
        yield made


def sent(fuzzed, cases):
    """Send so many generated requests, divided over all operations and three roles; return their statuses."""
    schema = schemathesis.openapi.from_dict(fuzzed.ask("GET", "/openapi.json", None).json())
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= OPERATIONS
    varied = [found for found in operations if found.body or found.path_parameters or found.query]
    each, statuses = -(-cases // (len(varied) * len(ROLES))), []
    for operation in operations:  # those that nothing is sent with have one case each
        for role in ROLES:
            _send(fuzzed, operation, fuzzed.tokens[role], each, statuses)
    return statuses


def _send(fuzzed, operation, token, many, statuses):
    @seeded(1)
    @settings(
        max_examples=many,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def answered(case):
        terms = case.as_transport_kwargs(base_url="http://127.0.0.1")
        terms.pop("cookies", None)
        headers = {name: value for name, value in (terms.pop("headers", None) or {}).items() if value.isascii()}
        content = terms.pop("data", None)
        sent_headers = {**headers, "Authorization": f"Bearer {token}"}
        response = fuzzed.client.request(**terms, headers=sent_headers, content=content)
        case.validate_response(response, checks=CHECKS)
        statuses.append(response.status_code)

    answered()


def test_two_hundred_generated_requests_have_documented_responses(fuzzed):
    statuses = sent(fuzzed, 200)
    assert len(statuses) >= 100
    assert 200 in statuses
    assert max(statuses) < 500


@pytest.mark.slow
def test_five_thousand_generated_requests_have_documented_responses(fuzzed):
    statuses = sent(fuzzed, 5_000)
    assert len(statuses) >= 5_000
    assert max(statuses) < 500
