"""Shortens the turns of threads at Python, for processes with an event loop."""

from __future__ import annotations

import sys

_SWITCH_S = 0.0005


def take_short_turns() -> None:
    """Lets threads take turns at Python every half millisecond, for the rest of the process.

    Searches and the offline reasoner compute in threads. By default Python lets each of them run for 5 ms, one after
    another, while the event loop waits to run for a tenth of a millisecond.
    """
    sys.setswitchinterval(_SWITCH_S)
