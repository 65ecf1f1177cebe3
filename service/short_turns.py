"""How long a thread keeps others from running Python, if an event loop is one of them."""

from __future__ import annotations

import sys

_SWITCH_S = 0.0005


def take_short_turns() -> None:
    """Lets threads take turns at Python every half millisecond, for the rest of the process.

    Searches and the offline reasoner compute in threads. By itself Python lets one of them go on for 5 ms, and then
    the next, while the event loop waits to run for a tenth of a millisecond.
    """
    sys.setswitchinterval(_SWITCH_S)
