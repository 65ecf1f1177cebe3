"""Checks the names in `.env` and in the environment: finds lines that cannot be read, and names of no setting."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from io import StringIO
from pathlib import Path

from dotenv.parser import parse_stream

from antiphon.vocabulary.errors import ConfigurationError

PREFIX = "ANTIPHON_"
ENCODING = "utf-8-sig"
"""UTF-8, whether or not an editor put a byte order mark before it."""


def names_in(path: Path) -> tuple[str, ...]:
    """Returns the names that a file of settings sets; none if there is no file.

    Raises:
        ConfigurationError: The file cannot be read, or a line of it would be skipped. The message shows no value,
            because it may be a key.
    """
    if not path.is_file():
        return ()
    names: list[str] = []
    for line in parse_stream(StringIO(_text(path))):
        if line.error:
            written = line.original.string
            # The parser counts empty lines as part of the line that follows them.
            empty = written[: len(written) - len(written.lstrip())].count("\n")
            number = line.original.line + empty
            raise ConfigurationError(
                f"{path}, line {number}, cannot be read: wanted NAME=value, with every quote closed."
            )
        if line.key is not None:
            names.append(line.key)
    return tuple(names)


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding=ENCODING)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error.strerror}): make it readable, or remove it."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(_not_utf_8(path)) from error
    # UTF-16 without a byte order mark reads as ASCII with zeros in between.
    if "\0" in text:
        raise ConfigurationError(_not_utf_8(path))
    return text


def _not_utf_8(path: Path) -> str:
    return f"{path} is not text in UTF-8: save it as UTF-8, not as UTF-16 or in another encoding."


def unknown_settings(names: Iterable[str], fields: Iterable[str]) -> tuple[str, ...]:
    """Returns a sentence about each name that looks like a setting but is not, with the setting nearest to it.

    Args:
        names: The names in the environment; those of other programs are ignored.
        fields: The settings, as Python names them.
    """
    known = [field.upper() for field in fields]
    sentences: list[str] = []
    # Like pydantic, without regard to case.
    for name in dict.fromkeys(name.upper() for name in names):
        bare = name.removeprefix(PREFIX)
        if bare == name or bare in known:
            continue
        near = get_close_matches(bare, known, n=1)
        hint = (
            f"did you mean {PREFIX}{near[0]}?"
            if near
            else "docs/settings.md lists the settings"
        )
        sentences.append(f"{name} is no setting, and changes nothing: {hint}")
    return tuple(sentences)
