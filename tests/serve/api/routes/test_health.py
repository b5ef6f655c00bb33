"""Health: up, and counters that say nothing of data."""

from tests.serve.api.served import request, served


def test_the_server_says_that_it_is_up_and_counts_requests_by_route_and_status(tmp_path):
    with served(tmp_path) as made:
        made.ask("POST", "/v1/run", json=request())
        made.ask("GET", "/v1/tables/nothing")
        assert made.ask("GET", "/healthz", None).json() == {"up": True}
        text = made.ask("GET", "/metrics", None).text
    assert 'discreet_requests_total{method="POST",route="/v1/run",status="200"} 1' in text
    assert 'discreet_requests_total{method="GET",route="/v1/tables/{name}",status="404"} 1' in text
    assert "nothing" not in text
