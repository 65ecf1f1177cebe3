"""The redaction that every test runs with, like every real service: with a key and with patterns.

A service that redacts takes other paths than one that does not, even if nothing matches: it searches every text, and
may rebuild events. So the key and patterns here must match nothing that a test expects.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.traces import Redaction

API_KEY = f"sk-ant-api03-{'x9_Qf' * 19}-AA"
"""A key in the form of a real one."""
PATTERNS = {
    "card": r"\b(?:\d{4}[ -]){3}\d{4}\b",
    "mail": r"[\w.+-]+@(?:[\w-]+\.)+invalid\b",
}


def guarded() -> Redaction:
    """Makes the redaction of a service with this key and these patterns."""
    return Redaction(PATTERNS, [API_KEY])


def with_key(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of a process, with the same key and patterns unless they set their own."""
    ours = {
        "ANTHROPIC_API_KEY": API_KEY,
        "ANTIPHON_REDACT": "\n".join(PATTERNS.values()),
    }
    # With only a key the process would call the real API; settings that name a server mean that one.
    if "ANTHROPIC_BASE_URL" not in settings:
        ours["ANTIPHON_REASONER"] = "offline"
    return ours | dict(settings)
