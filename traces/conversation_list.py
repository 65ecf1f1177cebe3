"""The list of conversations, the last asked first, and their titles.

A reader walks the queries by start time and takes each conversation at its last question, so that no table needs
updating after a question or a deletion: a page costs as many lines as there are queries since its last one.
"""

from __future__ import annotations

import json
import re
import sqlite3

from antiphon.traces.codec import sound_text
from antiphon.traces.conversations import NO_CONVERSATION
from antiphon.traces.visibility import VISIBLE, unknown_conversation
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.ports import ConversationSummary

_TITLE_CHARS = 80
"""Most characters of a title made from a question, which may be long."""

# The last question of each conversation since it was cleared. Forks do not count: nobody asked them.
_LAST = f"""
    SELECT session_id, queries.tenant, title, cleared_after, queries.started_at, number, query_id
    FROM queries CROSS JOIN conversations USING (session_id)
    WHERE session_id <> '{NO_CONVERSATION}' AND parent IS NULL AND number > cleared_after
        AND queries.tenant = conversations.tenant AND NOT EXISTS (
            SELECT 1 FROM queries AS later WHERE later.session_id = queries.session_id
                AND later.number > queries.number AND later.parent IS NULL AND later.tenant = queries.tenant)
"""  # noqa: S608 - a constant
_LABELLED = "AND queries.tenant = :label"
# Redundant, but SQLite uses the partial index of tenants only if the statement repeats its condition.
_OF_TENANT = f"{_LABELLED} AND queries.tenant <> '{LOCAL_TENANT}'"
_AFTER = """
    AND (queries.started_at, queries.number) < (SELECT started_at, number FROM queries WHERE query_id = :after_id)
"""
_AMONG_FEW = "AND queries.session_id IN (SELECT value FROM json_each(:among))"
# The plus makes SQLite walk the queries by start and stop when the page is full, instead of going conversation by
# conversation: 0.1 s instead of 1.7 s for 36,000 of them.
_AMONG_MANY = "AND +queries.session_id IN (SELECT value FROM json_each(:among))"
_MANY = 1_000
_PAGE = "ORDER BY queries.started_at DESC, queries.number DESC LIMIT :limit"

# The other columns are read only for the page.
_ASKED_IN = """
    FROM queries AS each WHERE each.session_id = last.session_id AND each.number > last.cleared_after
        AND each.parent IS NULL AND each.tenant = last.tenant
"""
_LINES = f"""
    SELECT last.session_id, title, (SELECT substr(query, 1, 500) {_ASKED_IN} ORDER BY each.number LIMIT 1),
        (SELECT count(*) {_ASKED_IN} AND each.status IN ('answered', 'partial')),
        (SELECT started_at {_ASKED_IN} ORDER BY each.number LIMIT 1), started_at, query_id
    FROM ({{last}}) AS last ORDER BY started_at DESC, number DESC
"""  # noqa: S608 - a constant

# The question's row in the index of words has twice its query's number, the answer's one more.
_HOLDING = f"""
    SELECT DISTINCT session_id FROM queries WHERE {VISIBLE} AND number IN (
        SELECT rowid / 2 FROM words WHERE words MATCH :words AND rowid % 2 = 0)
"""  # noqa: S608 - a constant
_UNDER_WAY = (
    f"SELECT session_id, query FROM queries WHERE status = 'open' AND {VISIBLE}"  # noqa: S608 - a constant
)
_TITLED = (
    f"SELECT session_id, title FROM conversations WHERE title IS NOT NULL AND {VISIBLE}"  # noqa: S608 - a constant
)


def read_conversations(
    connection: sqlite3.Connection,
    limit: int,
    after_id: str | None,
    text: str | None,
    session_id: str | None,
    label: str | None,
) -> list[ConversationSummary]:
    """Reads one line per conversation that has a label, or any label (None), the last asked first."""
    values: dict[str, object] = {
        "limit": limit,
        "label": label,
        "after_id": after_id,
        "session_id": session_id,
    }
    clauses: list[str] = []
    if label is not None:
        clauses.append(_LABELLED if label == LOCAL_TENANT else _OF_TENANT)
    if after_id is not None:
        clauses.append(_AFTER)
    if session_id is not None:
        clauses.append("AND queries.session_id = :session_id")
    if text is not None:
        among = _holding(connection, text, label)
        clauses.append(_AMONG_MANY if len(among) > _MANY else _AMONG_FEW)
        values["among"] = json.dumps(list(among))
    lines: list[ConversationSummary] = []
    last = " ".join([_LAST, *clauses, _PAGE])
    for row in connection.execute(_LINES.format(last=last), values):
        found_id, title, question, exchanges, started_at, last_at, query_id = row
        line = ConversationSummary(
            session_id=found_id,
            title=title or _title_of(question),
            exchanges=exchanges,
            started_at=started_at,
            last_at=last_at,
            last_query_id=query_id,
        )
        lines.append(line)
    return lines


def write_title(
    connection: sqlite3.Connection, session_id: str, title: str | None
) -> None:
    """Names a conversation; None names it after its first question.

    Raises:
        NotFoundError: No such conversation.
    """
    renamed = connection.execute(
        "UPDATE conversations SET title = ? WHERE session_id = ?", (title, session_id)
    )
    if renamed.rowcount == 0:
        raise unknown_conversation(session_id)


def _title_of(question: str) -> str:
    """Returns the beginning of a question as a title, in whole words."""
    words = " ".join(question.split())
    if len(words) <= _TITLE_CHARS:
        return words
    whole, _, _ = words[:_TITLE_CHARS].rpartition(" ")
    return f"{whole or words[: _TITLE_CHARS - 1]}…"


def _holding(connection: sqlite3.Connection, text: str, label: str | None) -> set[str]:
    """Returns the conversations with a question or a title that holds all words; a word may be unfinished."""
    words = re.findall(r"\w+", sound_text(text).casefold())
    if not words:
        return set()
    # Quoted, so that FTS5 reads none of it as its own syntax.
    wanted = {"label": label, "words": " ".join(f'"{word}"*' for word in words)}
    found = {row[0] for row in connection.execute(_HOLDING, wanted)}
    # No index holds titles and questions under way, but there are few of them.
    for statement in (_UNDER_WAY, _TITLED):
        for session_id, said in connection.execute(statement, wanted):
            if all(word in said.casefold() for word in words):
                found.add(session_id)
    return found
