"""Decides how a call thinks: little in a round of tools, moderately in the final call, and in tokens of its own.

Thinking counts towards `max_tokens` (https://platform.claude.com/docs/en/build-with-claude/thinking, read 2026-11-26),
and the default models think unless a request says otherwise. The setting `max_tokens` is meant for the answer, so the
room for thinking comes on top of it.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ModelTraits, ThinkingMode

ROUND_EFFORT = "low"
FINAL_EFFORT = "medium"
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_ROOM = {"low": 1_000, "medium": 4_000, "high": 12_000, "xhigh": 24_000, "max": 48_000}
"""Tokens for thinking by effort. Assumptions: the documentation has no figures, and nobody has measured any."""
_WIDER = 4
"""Factor of the room for an attempt after one that used up all its tokens in thinking; it also has low effort."""
_LEAST_WIDER = 8_000
_QUIET: tuple[ThinkingMode, ...] = ("between_tools", "disabled")
"""The modes without thinking up front, the better one first."""
_MOST_QUIET_EFFORT = "high"
"""The highest effort that these modes accept."""


class Thinking(NamedTuple):
    """How one call thinks.

    Attributes:
        mode: The mode; None: the request does not name one, and the model uses its default.
        effort: The effort; None: likewise.
        room: Most tokens of thinking in its reply, on top of those of the answer.
    """

    mode: ThinkingMode | None = None
    effort: str | None = None
    room: int = 0

    def json(self) -> str | None:
        """Returns the request's fields for this, as a JSON object; None if there are none."""
        fields: Json = {}
        if self.effort is not None:
            fields["output_config"] = {"effort": self.effort}
        if self.mode is not None:
            fields["thinking"] = self._mode_fields()
        if not fields:
            return None
        return msgspec.json.encode(fields).decode()

    def _mode_fields(self) -> Json:
        fields: Json = {"type": self.mode}
        if self.mode == "enabled":
            fields["budget_tokens"] = self.room
        elif self.mode == "adaptive":
            # Without it the newer models send the blocks without their text.
            fields["display"] = "summarized"
        return fields


def thinking_of(
    traits: ModelTraits | None,
    *,
    final: bool,
    wanted: str = "default",
    effort: str | None = None,
) -> Thinking:
    """Decides how a call thinks.

    Args:
        traits: The model's traits; None: not known. For an unknown model, and by default for one that does not think by
            itself, the request says only what the settings say.
        wanted: The setting: `default` for our policy, or `off`, `adaptive`, or a number of tokens.
        effort: The setting; None: our policy.
    """
    if traits is None or (wanted == "default" and effort is None and not traits.thinks):
        return _as_told(wanted, effort)
    effort = _accepted_effort(traits, effort or _usual_effort(final, wanted))
    if wanted.isdigit():
        return _with_budget(traits, effort, int(wanted))
    if _is_deep(traits, final, wanted, effort):
        return _deep(traits, effort)
    return _quiet(traits, effort)


def _is_deep(traits: ModelTraits, final: bool, wanted: str, effort: str | None) -> bool:
    """Returns True if the call thinks before it writes."""
    if wanted != "default":
        return wanted == "adaptive"
    return (final and traits.thinks) or _is_above_quiet(effort)


def _usual_effort(final: bool, wanted: str) -> str:
    if final and wanted != "off":
        return FINAL_EFFORT
    return ROUND_EFFORT


def thinking_room(
    traits: ModelTraits | None,
    *,
    final: bool,
    wanted: str = "default",
    effort: str | None = None,
) -> int:
    """Returns the most tokens of thinking in a call's reply; the arguments are those of `thinking_of`."""
    return thinking_of(traits, final=final, wanted=wanted, effort=effort).room


def wider_room(room: int) -> int:
    """Returns the room for an attempt after one that used up all its tokens in thinking."""
    return max(room * _WIDER, _LEAST_WIDER)


def _as_told(wanted: str, effort: str | None) -> Thinking:
    if wanted.isdigit():
        return Thinking("enabled", effort, int(wanted))
    if wanted == "adaptive":
        return Thinking("adaptive", effort, _room(effort))
    if wanted == "off":
        return Thinking("disabled", effort)
    return Thinking(None, effort)


def _with_budget(traits: ModelTraits, effort: str | None, budget: int) -> Thinking:
    budget = min(budget, traits.max_output // 2)
    if "enabled" in traits.thinking:
        return Thinking("enabled", effort, budget)
    # Models that accept no budget choose their own; the number is only their room.
    return Thinking("adaptive", effort, budget)


def _deep(traits: ModelTraits, effort: str | None) -> Thinking:
    mode: ThinkingMode = "adaptive" if "adaptive" in traits.thinking else "enabled"
    return Thinking(mode, effort, _room(effort))


def _quiet(traits: ModelTraits, effort: str | None) -> Thinking:
    """Thinks as little as the model can; for one that always thinks, only the effort can lower it."""
    for mode in _QUIET:
        if mode in traits.thinking:
            if _is_above_quiet(effort):
                effort = _MOST_QUIET_EFFORT
            # A model that does not think by itself needs no mode.
            return Thinking(mode if traits.thinks else None, effort)
    return _deep(traits, effort)


def _is_above_quiet(effort: str | None) -> bool:
    return effort in ("xhigh", "max")


def _accepted_effort(traits: ModelTraits, wanted: str) -> str | None:
    """Returns the highest effort up to `wanted` that the model accepts; None if it accepts none."""
    accepted: str | None = None
    for effort in _EFFORTS[: _EFFORTS.index(wanted) + 1]:
        if effort in traits.efforts:
            accepted = effort
    return accepted


def _room(effort: str | None) -> int:
    return _ROOM[effort or FINAL_EFFORT]
