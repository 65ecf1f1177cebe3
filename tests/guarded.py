"""The redaction that every test runs beside, as every real service does: a key is set, and so are patterns.

A service that redacts takes other paths than one that does not, also where nothing matches: every text is looked
through, and events may be made anew. So nothing here may change what a test expects.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.traces import Redaction

API_KEY = f"sk-ant-api03-{'x9_Qf' * 19}-AA"
"""It has the form of a real key."""
PATTERNS = {
    "card": r"\b(?:\d{4}[ -]){3}\d{4}\b",
    "mail": r"[\w.+-]+@(?:[\w-]+\.)+invalid\b",
}


def guarded() -> Redaction:
    """Makes the redaction of a service with a key and patterns of its own."""
    return Redaction(PATTERNS, [API_KEY])


def with_key(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of a process with the same key and patterns, where they choose none of their own."""
    ours = {
        "ANTHROPIC_API_KEY": API_KEY,
        "ANTIPHON_REDACT": "\n".join(PATTERNS.values()),
    }
    # With a key alone Claude would be asked; whoever names a server means that one.
    if "ANTHROPIC_BASE_URL" not in settings:
        ours["ANTIPHON_REASONER"] = "offline"
    return ours | dict(settings)
