"""Patterns for the kinds of text that a setting redacts by name: keys and passwords, e-mail addresses, phone numbers.

They match the usual notations. Names of people, streets, and numbers whose meaning shows only from the context need
patterns of the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, tuple[str, ...]] = {
    "keys": (
        # Keys as providers issue them: model servers, clouds, code hosts, chats, payments.
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,})",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s]{20,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
        # `\K` drops the label from the match, so that readers still see what kind of value was there.
        r"(?i:\b(?:bearer|basic)\s)\K[A-Za-z0-9._~+/=-]{16,}",
        r"(?i:\b(?:passwor[dt]|passwd|passphrase|secret|api[_-]?key|access[_-]?token|auth[_-]?token)"
        r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?)\K[^\s\"',;]{6,200}",
    ),
    "email": (
        r"[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,6}\p{L}{2,24}(?![\p{L}\p{N}@])",
    ),
    "phone": (
        # International: + or 00, then seven to fifteen digits in groups.
        r"(?<![\w+.])(?:\+|00)[1-9](?:[\s./()-]{0,2}\d){6,14}(?![\d.]?\d)",
        # National: an area code that begins with 0, or is in brackets, apart from the number.
        r"(?<![\w.,-])(?:\(0?\d{2,5}\)|0\d{2,5})\s?[\s/-]\s?\d{3,4}(?:[\s-]?\d{2,4}){1,3}(?![\w]|[.-]\d)",
        # North American, with separators.
        r"(?<![\w.,-])[2-9]\d{2}[.-][2-9]\d{2}[.-]\d{4}(?![\w]|[.-]\d)",
    ),
}
"""The patterns by name."""
