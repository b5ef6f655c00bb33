"""Agents: a session as tools of the Model Context Protocol: look, preview for free, ask within a grant's own budget."""

# No postponed annotations: the protocol's server reads those of the tools.

from typing import TYPE_CHECKING, Any

from discreet.core.errors import MissingExtra, Refusal

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from discreet.curator.session import Session

_INSTRUCTIONS = (
    "Ask about sensitive tables under differential privacy. Answers are noisy, with 95% intervals; each spends epsilon "
    "of a budget that is never given back, and the same question again is free. Look with list_tables and describe, "
    "preview every question first, and ask with the least epsilon whose intervals serve the purpose. "
    "A refusal says why and what to do instead; it costs nothing."
)


# What a question may be, in the words of its tools: with this an agent's first question is a valid one.
_SQL = (
    "One SELECT of aggregates, such as SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits WHERE age >= 18 GROUP "
    "BY ward: COUNT(*), COUNT(DISTINCT person), SUM, AVG, MEDIAN, MIN, MAX, STDDEV_POP, VAR_POP of declared columns, "
    "with names by AS. Group by columns whose keys describe lists; others need a delta. Single rows are never shown."
)
_EPSILON = "epsilon is the price, often 0.05 to 1: four times as much makes intervals about four times as narrow."


def agent_server(session: "Session") -> "MCPServer":
    """Make the server of one session.

    Guarantee: an agent sees what an analyst with the token sees, and spends what the grant allows: its cap is in the
    ledger. There is no way to ask for fresh noise, so that a question asked again and again is paid once.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise MissingExtra("a server for agents", "mcp", "mcp") from error

    server = MCPServer("discreet", instructions=_INSTRUCTIONS)

    def told(refusal: Refusal) -> Exception:
        """Return a refusal as an error that an agent can act on: what, why, and what to do instead."""
        return ToolError(str(refusal))

    @server.tool(description="List the tables that may be asked about.", structured_output=False)
    def list_tables() -> str:
        try:
            return "\n".join(session.tables())
        except Refusal as refusal:
            raise told(refusal) from None

    @server.tool(
        description="Describe a table: its columns, their declared bounds and keys, and whom it protects. Free.",
        structured_output=False,
    )
    def describe(table: str) -> str:
        try:
            return repr(session.table(table))
        except Refusal as refusal:
            raise told(refusal) from None

    @server.tool(
        description="Show what a question would cost and how wide the intervals of its answer would be. Free; the same "
        f"terms go to ask. {_SQL} {_EPSILON} rows is a guess of the table's size, where it is not declared.",
        structured_output=False,
    )
    def preview(sql: str, epsilon: float, delta: float | None = None, rows: int | None = None) -> str:
        try:
            return str(session.preview_sql(sql, epsilon, delta, rows=rows))
        except Refusal as refusal:
            raise told(refusal) from None

    @server.tool(
        description="Pay epsilon for a question and return its answer with intervals. The same question again, at the "
        f"same epsilon, is free. {_SQL} {_EPSILON}",
        structured_output=False,
    )
    def ask(sql: str, epsilon: float, delta: float | None = None) -> str:
        try:
            answer = session.sql(sql, epsilon, delta)
        except Refusal as refusal:
            raise told(refusal) from None
        return f"{answer}\n\n{_paid(answer)}"

    @server.tool(
        description="Say what is left to spend, of each limit that a question has to pass. Free.",
        structured_output=False,
    )
    def budget() -> str:
        try:
            return str(session.remaining())
        except Refusal as refusal:
            raise told(refusal) from None

    @server.tool(
        description="Say in plain words what an answer protects, what its intervals hold, and what may be done with "
        "it. Costs what asking the same question costs: nothing if it was asked before.",
        structured_output=False,
    )
    def explain(sql: str, epsilon: float, delta: float | None = None) -> str:
        try:
            return session.sql(sql, epsilon, delta).explain()
        except Refusal as refusal:
            raise told(refusal) from None

    return server


def _paid(answer: Any) -> str:  # noqa: ANN401  (an answer)
    replayed = bool(answer.receipt and answer.receipt["replayed"])
    paid = "This was answered before: nothing was spent." if replayed else "This was paid for now."
    return f"{paid} Left: {answer.remaining}."
