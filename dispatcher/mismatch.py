"""What is wrong with a call's arguments, in bounded words that help the model to call again rightly."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from antiphon.dispatcher.bounds import line

MAX_NAMED = 8
"""Wrong arguments that are named one by one; of more, only the number is said."""


def describe_mismatch(error: ValidationError, known: Sequence[str]) -> str:
    """Each wrong argument, what was wanted and what was found.

    Args:
        known: Names of the arguments that the tool knows.
    """
    wrong = error.errors(include_url=False, include_context=False)
    named = [_describe(detail, known) for detail in wrong[:MAX_NAMED]]
    if len(wrong) > MAX_NAMED:
        named.append(f"and {len(wrong) - MAX_NAMED} more")
    return "; ".join(named) + "."


def _describe(detail: ErrorDetails, known: Sequence[str]) -> str:
    where = line(".".join(str(part) for part in detail["loc"]), 80)
    if detail["type"] == "json_invalid":
        return f"the arguments are not a JSON object: {line(detail['msg'], 200)}"
    if not where:
        return f"the arguments must be a JSON object, found {line(repr(detail['input']), 80)}"
    if detail["type"] == "missing":
        return f"{where}: is required and was not given"
    if detail["type"] == "extra_forbidden":
        return f"{where}: is not an argument of this tool, which takes {', '.join(known)}"
    wanted = detail["msg"].removeprefix("Input ").removeprefix("should be ")
    return f"{where}: wanted {line(wanted, 200)}, found {line(repr(detail['input']), 80)}"
