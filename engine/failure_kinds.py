"""The kind of a failed call, for an event; apart from failures.py, so that a replay does not load Anthropic's SDK."""

from __future__ import annotations

from typing import get_args

from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import FailureKind

_KINDS: frozenset[str] = frozenset(get_args(FailureKind))


def kind_of(error: ModelError) -> FailureKind:
    """Returns the failure's kind, for an event."""
    # Others may implement the port: a kind that the vocabulary does not know must not end the query.
    return error.kind if error.kind in _KINDS else "server_error"  # type: ignore[return-value]  # checked just now
