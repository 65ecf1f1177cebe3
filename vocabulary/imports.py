"""Imports modules that may be missing: those of the user's own that a setting names, and those that need an extra."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from antiphon.vocabulary.containment import words_of
from antiphon.vocabulary.errors import ConfigurationError, how_to_install

MAX_DETAIL_CHARS = 300
"""Most characters of the message that a module's import raised."""


def split_names(names: str) -> list[str]:
    """Returns the names in a setting that holds several, separated by commas."""
    split: list[str] = []
    for name in names.split(","):
        stripped = name.strip()
        if stripped:
            split.append(stripped)
    return split


def import_named(path: str, *, thing: str, form: str) -> object:
    """Imports the module and returns the object that `path` names.

    Args:
        thing: The word for the object in an error, such as `Tool`.
        form: The form that a path must have, such as `package.module:name`.

    Raises:
        ConfigurationError: The path has another form, the module cannot be imported, or the name is not in it.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name.isidentifier():
        raise ConfigurationError(f"{thing}s are named as {form}, found {path!r}.")
    try:
        module = importlib.import_module(module_name)
    except (
        Exception,
        SystemExit,
    ) as error:  # a user's module may raise anything, and call `sys.exit` at its top
        hint = (
            "it must be installed, or its folder be on PYTHONPATH"
            if isinstance(error, ImportError)
            else "mend it"
        )
        raise ConfigurationError(
            f"{thing} {path}: importing {module_name} failed ({in_words(error)}); {hint}."
        ) from error
    if not hasattr(module, name):
        raise ConfigurationError(f"{thing} {path}: {module_name} has no {name}.")
    found: object = getattr(module, name)
    return found


@contextmanager
def needing_extra(extra: str, thing: str) -> Iterator[None]:
    """Tells the user how to install an extra if an import in its block fails for lack of one of the extra's packages.

    Args:
        thing: The feature that needs it, such as a command.

    Raises:
        ConfigurationError: A package is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        # A module of ours that is missing is a bug, which must not look like a missing package.
        if package == "antiphon":
            raise
        raise ConfigurationError(
            f"{thing} needs {package}: {how_to_install(extra)}."
        ) from error


def in_words(error: BaseException) -> str:
    """Returns `Type: message` for what a user's module raised, bounded and on one line."""
    words = " ".join(words_of(error).split())
    if len(words) > MAX_DETAIL_CHARS:
        words = words[: MAX_DETAIL_CHARS - 1] + "…"
    # Half of a surrogate pair could not be printed.
    return words.encode(errors="replace").decode()
