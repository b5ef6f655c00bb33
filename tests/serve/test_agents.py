"""Agents: the protocol's own client runs the whole loop over standard input and output, and is stopped at its cap."""

import asyncio
import os
import sys

import pytest

import discreet as dp
from discreet.curator.curator import Curator
from tests.serve.api.served import ROWS, SQL, TERMS

pytest.importorskip("mcp")


@pytest.fixture
def vault(tmp_path):
    with Curator(tmp_path / "vault.discreet") as curator:
        curator.register("visits", ROWS, budget=dp.Budget(epsilon=3), **TERMS)
        yield tmp_path / "vault.discreet", curator.grant("agent", "visits", budget=dp.Budget(epsilon=1))


def text_of(result):
    return "\n".join(part.text for part in result.content)


async def conversation(place, token):
    from mcp import ClientSession, StdioServerParameters, stdio_client

    environment = {**os.environ, "DISCREET_TOKEN": token}
    words = ["-m", "discreet", "mcp", "--vault", str(place)]
    found = {}
    async with (
        stdio_client(StdioServerParameters(command=sys.executable, args=words, env=environment)) as (read, write),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        found["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)

        async def call(name, **terms):
            result = await client.call_tool(name, terms)
            return bool(result.is_error), text_of(result)

        found["tables"] = await call("list_tables")
        found["described"] = await call("describe", table="visits")
        found["unknown"] = await call("describe", table="visist")
        found["preview"] = await call("preview", sql=SQL, epsilon=0.5)
        found["asked"] = await call("ask", sql=SQL, epsilon=0.5)
        found["again"] = await call("ask", sql=SQL, epsilon=0.5)
        found["explained"] = await call("explain", sql=SQL, epsilon=0.5)
        found["wrong"] = await call("ask", sql="SELECT SUM(agee) FROM visits", epsilon=0.1)
        found["last"] = await call("ask", sql="SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        found["beyond"] = await call("ask", sql="SELECT AVG(age) AS a FROM visits", epsilon=0.5)
        found["left"] = await call("budget")
    return found


def test_an_agent_looks_previews_asks_and_is_stopped_at_its_cap(vault):
    place, token = vault
    found = asyncio.run(asyncio.wait_for(conversation(place, token), 60))
    assert found["tools"] == ["ask", "budget", "describe", "explain", "list_tables", "preview"]
    assert found["tables"] == (False, "visits")
    assert "0 to 110" in found["described"][1]
    assert found["unknown"][0]
    assert "did you mean 'visits'?" in found["unknown"][1]
    assert "price: epsilon 0.5" in found["preview"][1]
    assert "This was paid for now." in found["asked"][1]
    assert "nothing was spent" in found["again"][1]
    assert found["asked"][1].splitlines()[2] == found["again"][1].splitlines()[2]
    assert not found["explained"][0]
    assert found["wrong"][0]
    assert "age" in found["wrong"][1]
    assert not found["last"][0]
    assert found["beyond"][0]
    assert "requested" in found["beyond"][1]
    assert "0% left" in found["left"][1]
