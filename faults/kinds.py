"""The kinds of faults: what each does, in words; which door knows which is in doors' own tables."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal[
    "raise", "hang", "slow", "cancel", "drop", "duplicate", "reorder", "late", "truncate", "malformed", "wrong_id",
    "unknown_tool", "empty", "oversized", "rate_limit", "overload", "refusal", "max_tokens", "disk_full", "locked",
    "kill",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)

MEANING: dict[Kind, str] = {
    "raise": "it raises an error",
    "hang": "it never comes back",
    "slow": "it comes back after its time limit",
    "cancel": "it is cancelled from outside",
    "drop": "it is lost on the way",
    "duplicate": "it comes twice",
    "reorder": "it comes after what should follow it",
    "late": "it comes later than it should",
    "truncate": "it breaks off",
    "malformed": "it comes in a form that cannot be read",
    "wrong_id": "it carries an id that belongs to something else",
    "unknown_tool": "it names a tool that is not there",
    "empty": "it brings nothing",
    "oversized": "it brings far too much",
    "rate_limit": "it is refused: too many requests",
    "overload": "it is refused: overloaded",
    "refusal": "the model declines",
    "max_tokens": "the reply reaches its greatest length",
    "disk_full": "the disk is full from here on",
    "locked": "another process holds the lock for a while",
    "kill": "the process is killed (SIGKILL)",
}

FOREVER_S = 3_600.0
"""What `hang` waits, in seconds: longer than any deadline."""
