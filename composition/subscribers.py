"""Loads the components from outside that a setting names, and names them in the traces that they were part of."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence

from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.subscribers import Subscriber

VERSIONS_KEY = "subscribers"
"""The name under which the versions of a query's first event list its subscribers."""
MAX_IMPORT_DETAIL = 300
"""Characters of what a module raised."""


def load_subscribers(paths: str) -> tuple[Subscriber, ...]:
    """Loads what `paths` names: `package:factory, …`, each a function that returns a `Subscriber`, or several.

    Raises:
        ConfigurationError: A module or name is not there, or brings no subscriber.
    """
    subscribers: list[Subscriber] = []
    for path in paths.split(","):
        if path.strip():
            subscribers += _made_by(path.strip(), _factory(path.strip()))
    return tuple(subscribers)


def checked(subscribers: Iterable[Subscriber]) -> tuple[Subscriber, ...]:
    """Returns the subscribers of a service, checked together.

    Raises:
        ConfigurationError: Two have the same name, which alone tells them apart in a trace, or one does nothing.
    """
    # Those of the settings and those handed in from Python are checked together.
    by_name: dict[str, Subscriber] = {}
    for subscriber in subscribers:
        if subscriber.name in by_name:
            raise ConfigurationError(
                f"Two subscribers are called {subscriber.name!r}: name each once in ANTIPHON_SUBSCRIBERS, "
                "and give them names of their own."
            )
        if not subscriber.name or "," in subscriber.name:
            raise ConfigurationError(
                f"A subscriber is called {subscriber.name!r}: wanted a name without commas, for traces to list it."
            )
        if subscriber.decider is None and subscriber.act is None:
            raise ConfigurationError(
                f"Subscriber {subscriber.name} neither decides nor acts: give it a `decider`, an `act`, or both."
            )
        by_name[subscriber.name] = subscriber
    return tuple(by_name.values())


def versions_of(subscribers: Sequence[Subscriber]) -> tuple[tuple[str, str], ...]:
    """Returns what the versions of a first event say of the subscribers; nothing where there are none."""
    if not subscribers:
        return ()
    return ((VERSIONS_KEY, ", ".join(subscriber.name for subscriber in subscribers)),)


def missing_subscribers(versions: Iterable[tuple[str, str]], loaded: Sequence[Subscriber]) -> str:
    """Says in a sentence which subscribers a query was recorded with that are not loaded; empty where all are.

    Args:
        versions: Those of its first event.
    """
    names = {subscriber.name for subscriber in loaded}
    recorded = dict(versions).get(VERSIONS_KEY, "")
    missing = [name for name in recorded.split(", ") if name and name not in names]
    if not missing:
        return ""
    return (
        f"the query was recorded with the subscriber {' and '.join(missing)}, which is not loaded: "
        "name its factory in ANTIPHON_SUBSCRIBERS"
    )


def _factory(path: str) -> Callable[[], object]:
    module_name, colon, name = path.partition(":")
    if not (colon and module_name and name.isidentifier()):
        raise ConfigurationError(f"Subscribers are named as package.module:factory, found {path!r}.")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a user's module may raise anything, and call `sys.exit` at its top
        hint = "it must be installed, or its folder be on PYTHONPATH" if isinstance(error, ImportError) else "mend it"
        raise ConfigurationError(
            f"Subscriber {path}: importing {module_name} failed ({_in_words(error)}); {hint}."
        ) from error
    if not hasattr(module, name):
        raise ConfigurationError(f"Subscriber {path}: {module_name} has no {name}.")
    factory = getattr(module, name)
    if not callable(factory):
        raise ConfigurationError(
            f"Subscriber {path} is {type(factory).__name__}; wanted a function that returns a Subscriber."
        )
    return factory  # type: ignore[no-any-return]  # what it returns is checked where it is called


def _made_by(path: str, factory: Callable[[], object]) -> list[Subscriber]:
    try:
        made = factory()
    except Exception as error:
        raise ConfigurationError(f"Subscriber {path}: making it failed ({_in_words(error)}); mend it.") from error
    subscribers: list[Subscriber] = []
    for subscriber in made if isinstance(made, list | tuple) else [made]:
        if not isinstance(subscriber, Subscriber):
            raise ConfigurationError(
                f"Subscriber {path} returns {type(subscriber).__name__}; wanted a Subscriber, or a list of them."
            )
        subscribers.append(subscriber)
    return subscribers


def _in_words(error: BaseException) -> str:
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return words if len(words) <= MAX_IMPORT_DETAIL else words[: MAX_IMPORT_DETAIL - 1] + "…"
