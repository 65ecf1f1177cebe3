"""Components from outside are found by the names in a setting, or refused in a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from antiphon.composition import load_subscribers
from antiphon.composition.subscribers import checked, missing_subscribers, versions_of
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.ports import Subscription
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

MODULE = """
from antiphon.vocabulary.subscribers import Subscriber

def observer():
    return Subscriber(name="observer", act=lambda surroundings: ())

def both():
    return [observer(), Subscriber(name="other", act=lambda surroundings: ())]

def broken():
    raise RuntimeError("no collector")

def wrong():
    return 1

NUMBER = 1
"""


def acts_on_nothing(_: Surroundings) -> Sequence[Subscription]:
    return ()


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_subscribers.py").write_text(MODULE)
    (tmp_path / "own_that_raises.py").write_text("raise LookupError('at import')")
    monkeypatch.syspath_prepend(tmp_path)


def test_subscribers_are_made_by_the_factories_that_are_named() -> None:
    assert [each.name for each in load_subscribers("own_subscribers:observer")] == [
        "observer"
    ]
    assert [each.name for each in load_subscribers(" own_subscribers:both, ")] == [
        "observer",
        "other",
    ]
    assert load_subscribers("") == ()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("own_subscribers", "named as package.module:factory, found 'own_subscribers'"),
        (
            "not_there_at_all:x",
            "importing not_there_at_all failed .*; it must be installed",
        ),
        (
            "own_that_raises:x",
            "importing own_that_raises failed .LookupError: at import.; mend it",
        ),
        ("own_subscribers:nothing", "own_subscribers has no nothing"),
        (
            "own_subscribers:NUMBER",
            "is int; wanted a function that returns a Subscriber",
        ),
        (
            "own_subscribers:broken",
            "making it failed .RuntimeError: no collector.; mend it",
        ),
        (
            "own_subscribers:wrong",
            "returns int; wanted a Subscriber, or a list of them",
        ),
    ],
)
def test_what_is_no_subscriber_is_refused(path: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        load_subscribers(path)


@pytest.mark.parametrize(
    ("subscribers", "sentence"),
    [
        (
            [Subscriber(name="a", act=acts_on_nothing)] * 2,
            "Two subscribers are called 'a'",
        ),
        ([Subscriber(name="", act=acts_on_nothing)], "wanted a name without commas"),
        (
            [Subscriber(name="a, b", act=acts_on_nothing)],
            "wanted a name without commas",
        ),
        ([Subscriber(name="a")], "a neither decides nor acts"),
    ],
)
def test_subscribers_that_cannot_be_told_apart_or_do_nothing_are_refused(
    subscribers: list[Subscriber], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        checked(subscribers)


def test_a_trace_names_its_subscribers_and_those_that_are_not_loaded_are_found() -> (
    None
):
    loaded = [
        Subscriber(name="observer", act=acts_on_nothing),
        Subscriber(name="verifier", act=acts_on_nothing),
    ]
    versions = (("index", "3"), *versions_of(loaded))

    assert missing_subscribers(versions, loaded) == ""
    assert missing_subscribers(versions, loaded[:1]).startswith(
        "the query was recorded with the subscriber verifier, which is not loaded"
    )
    assert missing_subscribers((("index", "3"),), ()) == ""
