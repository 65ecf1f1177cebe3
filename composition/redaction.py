"""Makes the redaction of a service: the patterns of its settings, and its own keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from antiphon.composition.personal_data import KINDS
from antiphon.composition.settings import Settings
from antiphon.dispatcher import read_mcp_file
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.imports import split_names


def redaction_of(settings: Settings) -> Redaction:
    """Returns the redaction that the settings describe.

    Raises:
        ConfigurationError: The file cannot be read, or a pattern cannot be used.
    """
    named: dict[str, str] = {}
    for kind in split_names(settings.redact_kinds):
        for number, pattern in enumerate(KINDS[kind], start=1):
            named[f"ANTIPHON_REDACT_KINDS, {kind} {number},"] = pattern
    named |= dict(_lines("ANTIPHON_REDACT", settings.redact))
    if settings.redact_file is not None:
        named |= dict(_lines(str(settings.redact_file), _read(settings.redact_file)))
    secrets = [
        secret.get_secret_value()
        for secret in (
            settings.anthropic_api_key,
            settings.anthropic_auth_token,
            settings.otlp_headers,
            settings.trace_key,
        )
        if secret is not None
    ]
    for url in (
        settings.chroma_url,
        settings.anthropic_base_url,
        settings.otlp_endpoint,
        # One setting for several servers, each of which may have a password.
        *(settings.nats_url or "").split(","),
    ):
        secrets += _passwords_in(url)
    for server in read_mcp_file(settings.mcp).values():
        secrets += server.secrets()
    return Redaction(named, secrets)


def _passwords_in(url: str | None) -> list[str]:
    """Returns the password in an address, as it is written and as it is sent."""
    password = urlsplit(url or "").password
    if not password:
        return []
    return [password, unquote(password)]


def _lines(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yields each pattern with its place, for errors: these never show a pattern, which may hold a secret."""
    for number, line in enumerate(text.splitlines(), start=1):
        # As in .gitignore: lines that are empty or begin with # hold no pattern.
        if line.strip() and not line.startswith("#"):
            yield f"{name}, line {number},", line


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = (
            str(error.strerror)
            if isinstance(error, OSError)
            else "it is not text in UTF-8"
        )
        raise ConfigurationError(
            f"ANTIPHON_REDACT_FILE {path} cannot be read ({why}): nothing is recorded before it can be."
        ) from error
