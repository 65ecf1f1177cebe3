"""Loads the components from outside that a setting names, and lists them in the traces of their queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.imports import import_named, in_words, split_names
from antiphon.vocabulary.subscribers import Subscriber

VERSIONS_KEY = "subscribers"
"""The name under which the versions of a query's first event list its subscribers."""


def load_subscribers(paths: str) -> tuple[Subscriber, ...]:
    """Loads the subscribers that `paths` names: `package:factory, …`, each a function that returns one or several.

    Raises:
        ConfigurationError: A module or name does not exist, or does not make a subscriber.
    """
    return tuple(chain.from_iterable(map(_made_by, split_names(paths))))


def checked(subscribers: Iterable[Subscriber]) -> tuple[Subscriber, ...]:
    """Returns the subscribers of a service, checked together.

    Raises:
        ConfigurationError: Two have the same name, which alone distinguishes them in a trace, or one does nothing.
    """
    # Subscribers of the settings and those handed in from Python may clash with each other.
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
    """Returns the subscribers' entry in the versions of a first event; no entry without subscribers."""
    if not subscribers:
        return ()
    names = [subscriber.name for subscriber in subscribers]
    return ((VERSIONS_KEY, ", ".join(names)),)


def catalog_of(subscribers: Sequence[Subscriber]) -> Catalog:
    """Returns the built-in events and those of the subscribers."""
    further = chain.from_iterable(each.events for each in subscribers)
    return _extended(tuple(further))


# Cached, so that equal events give one catalog, whose decoders are built once. A process has one set of subscribers;
# tests have several.
@lru_cache(maxsize=16)
def _extended(further: tuple[type[Event], ...]) -> Catalog:
    return BUILT_IN.extended(further)


def missing_subscribers(
    versions: Iterable[tuple[str, str]], loaded: Sequence[Subscriber]
) -> str:
    """Names in a sentence the subscribers of a recorded query that are not loaded; empty if all are.

    Args:
        versions: The versions in its first event.
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


def _made_by(path: str) -> list[Subscriber]:
    """Imports the factory that `path` names, and calls it."""
    factory = import_named(path, thing="Subscriber", form="package.module:factory")
    if not callable(factory):
        raise ConfigurationError(
            f"Subscriber {path} is {type(factory).__name__}; wanted a function that returns a Subscriber."
        )
    try:
        made = factory()
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"Subscriber {path}: making it failed ({in_words(error)}); mend it."
        ) from error
    if not isinstance(made, list | tuple):
        made = [made]
    subscribers: list[Subscriber] = []
    for subscriber in made:
        if not isinstance(subscriber, Subscriber):
            raise ConfigurationError(
                f"Subscriber {path} returns {type(subscriber).__name__}; wanted a Subscriber, or a list of them."
            )
        subscribers.append(subscriber)
    return subscribers
