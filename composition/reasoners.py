"""The reasoners that answer: Claude as the settings name it, and the offline reasoner, which is always there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from antiphon import engine
from antiphon.composition.late_model import LateModel
from antiphon.composition.model_key import ModelKey, key_words
from antiphon.composition.settings import ANTHROPIC_URL, Settings
from antiphon.engine import OFFLINE, Profile
from antiphon.knowledge import Library
from antiphon.language.evidence import Measures
from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError, ModelError
from antiphon.vocabulary.events import Reasoner
from antiphon.vocabulary.ports import Clock, Courses


class Reasoners(NamedTuple):
    """The reasoner that answers, and its substitute.

    Attributes:
        primary: Gets each question first; the offline reasoner itself if no server is configured.
        offline: Answers when Claude is unavailable.
        profiles: The abilities of the configured server, if there is one.
        key: The state of the key for that server.
    """

    primary: LateModel
    offline: LateModel
    profiles: dict[Reasoner, Profile]
    key: ModelKey | None = None

    @property
    def models(self) -> tuple[LateModel, ...]:
        """Each of them once."""
        if self.primary is self.offline:
            return (self.offline,)
        return (self.primary, self.offline)


def reasoners_of(settings: Settings, library: Library, clock: Clock) -> Reasoners:
    """Returns the reasoners that the settings name.

    Raises:
        ConfigurationError: Claude should answer, and its key and address are missing or from different places.
    """
    offline = offline_over(library.courses, library)
    if not settings.speaks_to_claude:
        return Reasoners(offline, offline, {})
    check_reasoner(settings)
    # The model reports to the key and the key calls the model, so the lambda names `key` before it exists.
    primary = LateModel(None, lambda: claude(settings, key.note))
    key = ModelKey(primary.check_key, clock, key_words(settings))
    return Reasoners(primary, offline, {"primary": profile_of(settings)}, key)


def offline_over(courses: Courses, library: Library) -> LateModel:
    """Returns the offline reasoner, which knows these courses and compares texts by this library."""
    return LateModel(OFFLINE, lambda: engine.offline_model(_measures(library), courses))


def _measures(library: Library) -> Measures:
    """Returns the offline reasoner's measures: terms count by their rarity in the library, meanings by the embedder.

    It is the last resort and must answer even without an index; then all terms weigh the same.
    """

    def weight(term: str) -> float:
        try:
            return library.weight(term)
        except KnowledgeError:
            return 1.0

    return Measures(weight, library.likeness)


def profile_of(settings: Settings) -> Profile:
    """Returns the abilities of the configured server."""
    citations = settings.citations
    # Anthropic's own server is known to take native citations; elsewhere one small call finds out.
    if citations == "auto" and settings.anthropic_base_url in (None, ANTHROPIC_URL):
        citations = "native"
    lacking = settings.lacking
    return Profile(
        citations=citations,
        tool_choice_none="tool_choice_none" not in lacking,
        caching="caching" not in lacking,
        thinking="thinking" not in lacking,
        strict="strict" not in lacking,
    )


def speaker_of(settings: Settings) -> engine.AnthropicModel:
    """Returns the configured reasoner without index and store."""
    if settings.speaks_to_claude:
        return claude(settings)
    return engine.offline_model()


def check_reasoner(settings: Settings) -> None:
    """Checks that the settings lead to a server.

    Raises:
        ConfigurationError: No key, token or address is set, or they come from different places.
    """
    if settings.mixed_sources:
        raise ConfigurationError(settings.mixed_sources)
    key, token = settings.anthropic_api_key, settings.anthropic_auth_token
    if key is None and token is None and settings.anthropic_base_url is None:
        raise ConfigurationError(
            "ANTIPHON_REASONER is `claude`, and neither ANTHROPIC_API_KEY nor ANTHROPIC_BASE_URL is set: set one, "
            "or use `offline`."
        )


def claude(
    settings: Settings, ended: Callable[[ModelError | None], None] | None = None
) -> engine.AnthropicModel:
    """Returns a model at the configured server. Raises as `check_reasoner` does.

    Args:
        ended: Is called at the end of each call, as `engine.connect` describes.
    """
    check_reasoner(settings)
    key, token = settings.anthropic_api_key, settings.anthropic_auth_token
    # The SDK sends no request without a key, so a server that needs none gets a made-up one; a token replaces the key.
    api_key: str | None = "none"
    auth_token: str | None = None
    if token is not None:
        api_key = None
        auth_token = token.get_secret_value()
    elif key is not None:
        api_key = key.get_secret_value()
    return engine.connect(
        api_key,
        settings.anthropic_base_url or ANTHROPIC_URL,
        auth_token=auth_token,
        silence_s=settings.silence_s,
        ended=ended,
    )
