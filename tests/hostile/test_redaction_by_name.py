"""Named kinds of redaction: the texts they take and leave, and that no secret is stored, sent or exported."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.composition import load_settings, redaction_of
from antiphon.composition.personal_data import KINDS
from antiphon.service import Question
from antiphon.telemetry import Metrics, SpanExport, observer
from antiphon.vocabulary.errors import ConfigurationError
from tests.collector import collecting
from tests.small_service import house

TAKEN = {
    "keys": [
        "sk-ant-api03-abcdefghijklmnop",
        "ant_0123456789ab_abcdefghijklmnopqrstuvwx",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "xoxb-123456789012-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXdoYXRldmVy",
    ],
    "email": ["jane.doe+x@mail.example.org", "jürgen@müller.example", "o'neil@x.io"],
    "phone": [
        "+49 30 901820",
        "+1 (415) 555-2671",
        "0049-30-901820",
        "(030) 901 820 11",
        "030 / 901 82 01",
        "415-555-2671",
    ],
}
OF_A_PAIR = {
    "password: hunter2hunter2": "password: ",
    'api_key = "abcdef123456"': 'api_key = "',
    "Authorization: Bearer abcdefghijklmnop123": "Authorization: Bearer ",
}
LEFT = [
    "Kafka keeps records for 168 hours, since version 2.4.1.",
    "In 2015-03-14 the paper 1409.0473 appeared; see pages 100-150.",
    "RFC 7231, port 8080, 10.0.0.1, 1,234,567 rows, 3.14159265358979",
    "The key of a message decides its partition; the token is a word.",
    "a@b is a decorator, @dataclass too; user@host is a shell prompt.",
    "skip-gram, task-level sk-learn, ISBN 978-3-16-148410-0",
    "A secret: it has no value. Passwords are hashed.",
]


def redacted(kinds: str, text: str) -> str:
    return redaction_of(load_settings(redact_kinds=kinds)).text(text)


@pytest.mark.parametrize("kind", KINDS)
def test_redaction_takes_secrets_in_their_usual_form_and_leaves_the_words_around_them(
    kind: str,
) -> None:
    for secret in TAKEN[kind]:
        shown = redacted(kind, f"Write to {secret}, or not.")

        assert shown == f"Write to {'█' * len(secret)}, or not.", secret


@pytest.mark.parametrize("text", OF_A_PAIR)
def test_redaction_takes_the_secret_and_leaves_its_name(text: str) -> None:
    shown = redacted("keys", text)

    assert shown.startswith(OF_A_PAIR[text])
    assert "█" * 8 in shown


@pytest.mark.parametrize("text", LEFT)
def test_course_text_stays_as_it_is(text: str) -> None:
    assert redacted("keys,email,phone", text) == text


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="keys, email, phone"):
        load_settings(redact_kinds="keys, iban")


def test_a_users_own_patterns_work_beside_the_named_kinds() -> None:
    settings = load_settings(redact_kinds="email", redact="[A-Z]{3}-[0-9]{4}")

    shown = redaction_of(settings).text("ABC-1234 of jane@x.example.org")

    assert shown == "████████ of ██████████████████"


@pytest.mark.parametrize("kind", KINDS)
def test_text_made_to_take_long_takes_no_time(kind: str) -> None:
    redaction = redaction_of(load_settings(redact_kinds=kind))

    for piece in ("a.", "1 ", "(0", "a@", "x-", "+1 ", "password=", "A" * 10):
        text = piece * (20_000 // len(piece))
        # Redaction replaces a text whole if it takes too long.
        assert redaction.text(text) != "█" * len(text), piece


async def test_no_secret_is_stored_sent_or_exported(tmp_path: Path) -> None:
    secrets = [secret for each in TAKEN.values() for secret in each]
    question = f"What of {' and '.join(secrets)}?"

    async def look(what: str) -> str:
        """Finds something.

        Args:
            what: What to look for.
        """
        return f"It was said by {' and '.join(secrets)}."

    script = {
        "replies": [
            {"text": "", "calls": [{"name": "look", "input": {"what": "it"}}]},
            {"text": f"Ask {secrets[0]} or {secrets[-1]}."},
        ]
    }
    redaction = redaction_of(load_settings(redact_kinds="keys,email,phone"))
    metrics = Metrics()
    with collecting() as collector:
        spans = SpanExport(collector.url, {})
        observers = (observer(("look",), metrics, spans),)
        async with house(
            tmp_path, script, look, redaction=redaction, observers=observers
        ) as at:
            outcome = await at.service.ask(Question(query=question))
            kept = at.stored().decode(errors="replace") + at.sent()
        spans.close()
        told = b"".join(collector.bodies).decode(errors="replace")

    shown = outcome.response.answer + kept + told + metrics.exposition()
    assert [secret for secret in secrets if secret in shown] == []
    assert "█" in outcome.response.answer
