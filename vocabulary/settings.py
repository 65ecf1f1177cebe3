"""Declares each setting of one query once, with its type, default, bounds and meaning.

The service's own settings (composition/settings.py), the fields of `POST /api/query`, the options of the command line,
`.env.example` and the table in docs/settings.md are derived from this declaration, or checked against it by a test.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.fields import Mark, Name
from antiphon.vocabulary.typed import prepared

Effort = Literal["low", "medium", "high", "xhigh", "max"]

_LONGEST_SHOWN = 10**15

QUERY_CHARS = 8_000
"""Maximum length of a question in characters, unless the service's settings say otherwise."""
SILENCE_S = 30.0
"""Seconds without a byte after which an attempt is aborted, unless the service's settings say otherwise."""


@dataclass(frozen=True)
class Setting:
    """Meaning and bounds of one setting.

    Attributes:
        meaning: A phrase for help texts and tables, without bounds and choices, which are added to it.
        least: The minimum; None: no bound.
        above: A number that it must exceed.
        most: The maximum.
        pattern: A regular expression that a text must match as a whole.
        none: What leaving it empty (None) means.
    """

    meaning: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    pattern: str | None = None
    none: str = ""

    def is_enough(self, value: float) -> bool:
        """Returns True if `value` is a number and not too small."""
        # Not-a-number would pass a comparison written the other way round; a whole number is always finite, and may be
        # larger than any float.
        if isinstance(value, float) and not math.isfinite(value):
            return False
        if self.above is not None and value <= self.above:
            return False
        return self.least is None or value >= self.least


@dataclass(frozen=True)
class Wish:
    """Marks a setting that a caller may choose for one query.

    Attributes:
        lower_only: The service's own setting is the maximum, because the owner decides what a query may cost.
        most: The maximum that a caller may choose if the service's setting is None.
    """

    lower_only: bool = False
    most: float | None = None


class QuerySettings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Limits and behaviour of one query: a copy of the service's settings with the caller's choices."""

    max_rounds: Annotated[
        int, Setting("maximum rounds of tool calls", least=0, most=5), Wish()
    ] = 2
    deadline_s: Annotated[
        float, Setting("seconds from question to answer", least=1.0, most=600.0), Wish()
    ] = 60.0
    final_reserve_s: Annotated[
        float,
        Setting(
            "seconds of the deadline reserved for the final call, at most two fifths of it",
            least=0.0,
        ),
    ] = 15.0
    tool_timeout_s: Annotated[
        float, Setting("seconds for a tool that sets no limit of its own", above=0.0)
    ] = 10.0
    max_tool_calls: Annotated[
        int, Setting("maximum tool calls in one round", least=1, most=64)
    ] = 8
    model: Annotated[Name, Setting("the model for the reasoning calls")] = (
        "claude-sonnet-5-5"
    )
    max_tokens: Annotated[
        int, Setting("maximum output tokens of one call, beside its thinking", least=1)
    ] = 1500
    briefing_tokens: Annotated[
        int, Setting("maximum tokens of facts and notes shown to a call", least=200)
    ] = 6000
    early_dispatch: Annotated[
        bool,
        Setting("start a tool call as soon as its block is complete in the stream"),
    ] = True
    on_tool_failure: Annotated[
        Literal["recover", "stop"],
        Setting("after a failed tool, continue, or answer with what was found"),
    ] = "recover"
    context: Annotated[
        Literal["briefing", "transcript"],
        Setting("what a call sees; a transcript is the plain message list"),
    ] = "briefing"
    final_model: Annotated[
        Name | None, Setting("the model for the final call", none="the same model")
    ] = None
    effort: Annotated[
        Effort | None,
        Mark.NAME,
        Setting(
            "how much effort the model makes",
            none="low in rounds of tools, medium in the final call",
        ),
    ] = None
    thinking: Annotated[
        Name,
        Setting(
            "default (little in rounds of tools, moderately in the final call), off (as little as the model can), "
            "adaptive, or a budget in tokens",
            pattern=r"(default|off|adaptive|\d{4,6})",
        ),
    ] = "default"
    max_total_tokens: Annotated[
        int | None,
        Setting(
            "maximum tokens of all calls, input and output", least=0, none="no limit"
        ),
        Wish(lower_only=True, most=10_000_000),
    ] = None
    max_cost_usd: Annotated[
        float | None,
        Setting(
            "maximum cost of all calls, in US dollars",
            least=0.0,
            none="no limit",
        ),
        Wish(lower_only=True, most=1_000.0),
    ] = None
    other_model: Annotated[
        Name | None,
        Setting(
            "the model to try when a call fails",
            none="the offline reasoner at once",
        ),
    ] = None
    compression: Annotated[
        Literal["extractive", "model"],
        Setting(
            "how older rounds are shortened; a model also summarises what is dropped"
        ),
        Wish(),
    ] = "extractive"
    compression_model: Annotated[
        Name,
        Setting(
            "the small model that summarises",
            none="claude-haiku-5-5 at Anthropic, elsewhere ANTIPHON_MODEL",
        ),
    ] = "claude-haiku-5-5"


class Declared(NamedTuple):
    """One setting as it is declared in `QuerySettings`; `wish` is None if callers cannot choose it."""

    name: str
    type: Any
    default: Any
    setting: Setting
    wish: Wish | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that it may be, if they are few; empty for a number or any text."""
        found: list[str] = []
        # The type itself, or the part of it beside None.
        for part in (self.type, *get_args(self.type)):
            if get_origin(part) is Literal:
                found += get_args(part)
        return tuple(found)

    @property
    def most_wished(self) -> float | None:
        """The maximum that any caller of any service may choose; None: no bound."""
        if self.wish is not None and self.wish.most is not None:
            return self.wish.most
        return self.setting.most

    @property
    def is_float(self) -> bool:
        """True for a number with a fraction, of which infinity and not-a-number must be refused."""
        return self.type in (float, float | None)

    @property
    def meaning(self) -> str:
        """Its meaning with its bounds, such as `maximum rounds of tool calls, 0 to 5`."""
        if self.setting.most is None:
            return self.setting.meaning
        return (
            f"{self.setting.meaning}, {self.setting.least:g} to {self.setting.most:g}"
        )

    @property
    def description(self) -> str:
        """Its choices, its meaning and the meaning of None, for tables."""
        choices = f"{' | '.join(self.choices)}: " if self.choices else ""
        text = f"{choices}{self.meaning}"
        if self.setting.none:
            text += f"; empty: {self.setting.none}"
        return text

    @property
    def sentence(self) -> str:
        """Its meaning as a sentence, for help texts that show choices and default by themselves."""
        return f"{self.meaning[0].upper()}{self.meaning[1:]}."


def _declared() -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    types = get_type_hints(QuerySettings)
    marked = get_type_hints(QuerySettings, include_extras=True)
    for field in msgspec.structs.fields(QuerySettings):
        marks = marked[field.name].__metadata__
        # Exactly one: a field without its meaning must not get into any table.
        [setting] = [mark for mark in marks if isinstance(mark, Setting)]
        wishes = [mark for mark in marks if isinstance(mark, Wish)]
        found[field.name] = Declared(
            field.name, types[field.name], field.default, setting, *wishes
        )
    return found


DECLARED: Mapping[str, Declared] = _declared()
"""Every setting of a query by its name."""

WISHES: tuple[str, ...] = tuple(
    each.name for each in DECLARED.values() if each.wish is not None
)
"""The names of those that a caller may choose."""


def check_settings(settings: QuerySettings) -> None:
    """Refuses settings that no service may have.

    Raises:
        BadInputError: Some value is out of its bounds; every such value is named.
    """
    wrong: list[str] = []
    for name in DECLARED:
        problem = _problem(name, getattr(settings, name))
        if problem:
            wrong.append(problem)
    if wrong:
        raise BadInputError(" ".join(wrong))


def with_wishes(settings: QuerySettings, wishes: Mapping[str, object]) -> QuerySettings:
    """Returns the service's `settings` with a caller's wishes; a wish of None leaves the setting as it is.

    Raises:
        BadInputError: A wish names no setting that a caller may choose, or is out of its bounds.
    """
    chosen: dict[str, object] = {}
    for name, value in wishes.items():
        if value is None:
            continue
        if name not in WISHES:
            raise BadInputError(
                f"There is no setting {name!r} that a caller may choose: choose {', '.join(WISHES)}."
            )
        chosen[name] = _converted(name, value)
    wished = msgspec.structs.replace(settings, **chosen)
    for name in WISHES:
        # A setting that the caller leaves alone has only the bounds of the service's own setting.
        most = _most(name, getattr(settings, name)) if name in chosen else None
        problem = _problem(name, getattr(wished, name), most)
        if problem is not None:
            raise BadInputError(problem)
    return wished


def _converted(name: str, value: object) -> object:
    """Converts a value to the setting's type: 5 is a number of seconds, "5" and true are not."""
    try:
        return msgspec.convert(value, prepared(DECLARED[name].type))
    except msgspec.ValidationError as error:
        problem = _problem(name, value) or f"`{name}` cannot be {value!r}: {error}."
        raise BadInputError(problem) from error


def _most(name: str, own: float | None) -> float | None:
    """Returns the maximum that a caller may choose, None for no maximum; `own` is the service's setting."""
    wish = DECLARED[name].wish
    if wish is None or not wish.lower_only:
        return None
    # If the owner has set no limit, callers still have one.
    if own is None:
        return wish.most
    return own


def _problem(name: str, value: object, most: float | None = None) -> str | None:
    """Returns one sentence about a value that is out of its bounds; None if it is within them."""
    declared = DECLARED[name]
    if value is None:
        return None
    if declared.choices:
        return _no_choice(declared, value)
    # Before the numbers: in Python true is one of them.
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _no_match(declared, value)
    if isinstance(value, int | float):
        return _out_of_bounds(declared, value, most)
    return None


def _no_choice(declared: Declared, value: object) -> str | None:
    if value in declared.choices:
        return None
    return f"`{declared.name}` is {value!r}, it must be one of {', '.join(declared.choices)}."


def _no_match(declared: Declared, value: str) -> str | None:
    pattern = declared.setting.pattern
    if pattern is None or re.fullmatch(pattern, value):
        return None
    return f"`{declared.name}` is {value!r}, it must be {declared.setting.meaning}."


def _shown(value: float) -> str:
    """Writes a number, cut if it is too long to read; a whole one may be too large for a float."""
    if isinstance(value, float) or abs(value) < _LONGEST_SHOWN:
        return f"{value:,.12g}"
    return "a number of more than 15 digits"


def _out_of_bounds(declared: Declared, value: float, most: float | None) -> str | None:
    setting = declared.setting
    if most is None:
        most = setting.most
    if setting.is_enough(value) and (most is None or value <= most):
        return None
    found = f"`{declared.name}` is {_shown(value)}, it must be"
    if setting.least is None:
        return f"{found} more than {setting.above:,.12g}."
    if most is None:
        return f"{found} at least {setting.least:,.12g}."
    return f"{found} from {setting.least:,.12g} to {most:,.12g}."
