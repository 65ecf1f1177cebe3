"""Which of the forms that we offer a caller wants, by the Accept header."""

from __future__ import annotations

from email.message import Message

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
JSON_LINES = ("application/x-ndjson", "application/jsonl")


def preferred(accept: str | None, offers: tuple[str, ...]) -> str:
    """The offer that `accept` weighs highest; the earlier one of equals, and the first where it names none."""
    weights = dict(_weighed(part) for part in (accept or "*/*").split(","))
    return max(offers, key=lambda offer: _weight(offer, weights))


def _weight(offer: str, weights: dict[str, float]) -> float:
    for pattern in (offer, f"{offer.partition('/')[0]}/*", "*/*"):
        if pattern in weights:
            return weights[pattern]
    return 0.0


def _weighed(part: str) -> tuple[str, float]:
    message = Message()
    message["content-type"] = part.strip()
    try:
        return message.get_content_type(), float(str(message.get_param("q", "1")))
    except ValueError:
        return message.get_content_type(), 0.0
