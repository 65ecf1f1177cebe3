"""Makes the redaction that the settings want: their patterns, and the service's own keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr

from antiphon.composition.settings import Settings
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import ConfigurationError


def redaction_of(settings: Settings) -> Redaction:
    """Returns what redacts by the settings.

    Raises:
        ConfigurationError: The file cannot be read, or a pattern cannot be used.
    """
    named = dict(_lines("ANTIPHON_REDACT", settings.redact))
    if settings.redact_file is not None:
        named |= dict(_lines(str(settings.redact_file), _read(settings.redact_file)))
    return Redaction(named, _secrets(settings.anthropic_api_key, settings.anthropic_auth_token))


def _lines(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yields the patterns, each by its place: a pattern may hold a secret, and is never shown."""
    for number, line in enumerate(text.splitlines(), start=1):
        # As in .gitignore: lines that are empty or begin with # hold no pattern.
        if line.strip() and not line.startswith("#"):
            yield f"{name}, line {number},", line


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = "it is no text in UTF-8"
        if isinstance(error, OSError):
            why = str(error.strerror)
        raise ConfigurationError(
            f"ANTIPHON_REDACT_FILE {path} cannot be read ({why}): nothing is recorded before it can be."
        ) from error


def _secrets(*given: SecretStr | None) -> list[str]:
    return [secret.get_secret_value() for secret in given if secret is not None]
