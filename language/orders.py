"""Finds sentences that give orders to a model, or advertise, instead of informing a reader; pure.

Plain patterns for open orders, chosen to match nothing in texts that are merely about models and systems
(docs/measurements.md has the counts). An order in disguised words gets past them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from antiphon.language.lookalikes import as_latin
from antiphon.language.unseen import without_unseen

READ_CHARS = 4_000
SHOWN_CHARS = 120

_OLD = r"(?:previous|prior|above|earlier|preceding|foregoing|other|system|original)"
_ORDERS = r"(?:instructions?|rules|guidelines|prompts?|messages?|directions|orders|commands|context|questions?)"
_MODEL = r"(?:ai|llm|(?:large\s+)?language\s+model|ai\s+model|ai\s+assistant|assistant|chatbot)s?"
_SAY = r"(?:answer|reply|respond|say|state|output|print|write)"
_PATTERNS = (
    rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+|these\s+)?"
    rf"{_OLD}\s+{_ORDERS}\b",
    rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+(?:of\s+)?)?(?:your|all)\s+{_ORDERS}\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:above|before|that\s+(?:came|was\s+said)\s+before)\b",
    rf"\byou\s+must\s+(?:now\s+|only\s+|always\s+)?{_SAY}\b\s*(?:with\b|only\b|that\b|exactly\b|[:\"\u201c'])",
    r"\byou\s+must\s+(?:now\s+|first\s+)?call\s+(?:the\s+)?(?:tool|function)\b",
    rf"\byou\s+are\s+now\s+(?:DAN\b|in\s+developer\s+mode|an?\s+(?:\w+\s+)?{_MODEL}\b)",
    rf"\b{_SAY}\s+(?:with\s+)?(?:exactly|only|nothing\s+but)\s*(?:with\s+)?(?:the\s+words?\b|[:\"\u201c'])",
    r"\b(?:do\s+not|don['\u2019]t|never)\s+(?:tell|mention|reveal|disclose|show)\b.{0,40}\bto\s+the\s+user\b",
    r"\b(?:reveal|print|repeat|show|leak|output)\s+(?:me\s+)?(?:your|the)\s+system\s+prompt\b",
    r"\b(?:new|updated|real|secret|hidden)\s+(?:system\s+)?instructions?\s*:",
    rf"\b(?:note|message|attention|instructions?)\s*(?:to|for|,)?\s+(?:the\s+|any\s+|all\s+)?{_MODEL}\s*:",
    rf"(?:^|[.!:]\s+)(?:dear\s+)?{_MODEL}\s*[,:]\s+(?:please\s+)?(?:ignore|answer|reply|say|respond|call|disregard|do\s+not)\b",
    r"^\W*system\s+(?:prompt|message|instructions?|override)\s*:",
    # Markup of chat templates, of tool calls, and of our own requests.
    r"</?(?:system|assistant|tool_use|tool_result|function_calls?|invoke|conversation|question|attempts|round)\s*>",
    r"\[/?INST\]|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|<<SYS>>",
)
_ORDER = re.compile("|".join(_PATTERNS), re.IGNORECASE | re.DOTALL)
_BUY = (
    r"(?:buy|order|shop|subscribe|sign\s+up|enrol+|register|upgrade|book|visit|try|get|download|claim|save|join|switch|use"
    r"|grab|hurry|call|contact|check\s+out|click)"
)
_BARGAIN = (
    r"(?:today|right\s+now|(?:for|is|are)\s+free|free\s+(?:trial|month|shipping|gift)|discounts?|half\s+price|coupons?"
    r"|\d+\s?(?:%|percent)\s+off|(?:promo|promotion|discount|coupon|voucher)\s?codes?|money[- ]back"
    r"|(?:special|limited|exclusive|best)\s+(?:time\s+)?(?:offers?|deals?|prices?)|[$\u20ac\u00a3]\d[\d.,]*)"
)
_RECOMMEND = r"(?:recommend|mention|suggest|promote|praise|endorse|advertise)"
_ADVERTS = (
    rf"(?:^|[.!?:,;\u2013\u2014]\s+|\b(?:and|so|please|then)\s+)\W*{_BUY}\b(?:[^.!?]|\.(?=\w)){{0,120}}?(?<!\w)"
    rf"{_BARGAIN}(?!\w)",
    r"\b\d+\s?(?:%|percent)\s+off\b|\b(?:promo|coupon|discount|voucher)\s+code\b",
    r"\b(?:special|limited[- ]time)\s+offer\b|\bmoney[- ]back\s+guarantee\b",
    # Addressed to the writer of the answer.
    rf"\b(?:always|please|be\s+sure\s+to|make\s+sure\s+to|remember\s+to)\s+{_RECOMMEND}\b",
    rf"\b(?:if|when|whenever)\s+(?:you\s+are\s+)?(?:asked|(?:some|any)(?:one|body)\s+asks|(?:a|the)\s+\w+\s+asks)\b"
    rf"[^.!?]{{0,120}},\s*(?:please\s+|always\s+)?(?:{_RECOMMEND}|{_SAY}|tell)\b",
    rf"\b(?:{_RECOMMEND}|name|include|add)\b[^.!?]{{0,120}}\bin\s+(?:every|each|any|all)\s+(?:answer|reply|response)",
)
_ADVERT = re.compile("|".join(_ADVERTS), re.IGNORECASE)
_SIGNS = (
    "ignore", "disregard", "forget", "overrid", "bypass", "you must", "you are now", "to the user", "system prompt",
    "exactly", "nothing but", "the word", "only:", "instruction", "assistant", "chatbot", "llm", " ai", "ai:", "ai,",
    "language model", "system m", "system o",
    "</", "<s", "<a", "<t", "<f", "<i", "<c", "<q", "<r", "<|", "<<", "[inst", "[/inst",
)  # fmt: skip
"""Every order holds one of these; most sentences hold none, and this check is cheap."""
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|`[^`\n]{1,300}`"
)
_QUOTE_MARKS = ('"', "\u201c", "`")


# Cached, because many queries find the same passages.
@lru_cache(maxsize=4096)
def order_in(sentence: str, *, may_quote: bool = True) -> str | None:
    """Returns the words of the sentence that order a model about, cut to a line; None if it only informs.

    Args:
        may_quote: True if an order within quotation marks, after other words, counts as an example in a text about such
            orders. False for a tool's JSON, in which everything is in quotation marks.
    """
    text = _as_read(sentence)
    folded = text.lower()
    if not any(sign in folded for sign in _SIGNS):
        return None
    if may_quote and not text.startswith(_QUOTE_MARKS):
        text = _QUOTED.sub(" ", text)
    found = _ORDER.search(text)
    if found is None:
        return None
    return text[found.start() : found.start() + SHOWN_CHARS].strip()


@lru_cache(maxsize=4096)
def advert_in(sentence: str) -> str | None:
    """Returns the sentence, cut to a line, if it advertises something or asks its reader to do so, else None."""
    text = _as_read(sentence)
    if _ADVERT.search(text) is None:
        return None
    return text[:SHOWN_CHARS].strip()


def _as_read(sentence: str) -> str:
    """Returns the sentence as a reader sees it, without the letters that disguise it from patterns."""
    return as_latin(without_unseen(" ".join(sentence[:READ_CHARS].split())))
