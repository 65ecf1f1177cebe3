"""Detects the language of a text from its letters, with py3langid (https://github.com/adbar/py3langid)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

READ_CHARS = 20_000
"""The beginning of a course is enough, and a hundred megabytes would take seconds."""
FEWEST_LETTERS = 12
"""Enough for a sentence in Han letters; in Latin ones it is two or three words, rarely enough to be sure."""
LEAST_SURE = 0.8
"""The identifier is rarely less sure of a sentence, and always less sure of a list of names or numbers (measured)."""
_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian",
    "lv": "Latvian", "mr": "Marathi", "ms": "Malay", "nl": "Dutch", "nn": "Norwegian",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@cache
def _identifier() -> LanguageIdentifier | None:
    """Loads the model at first use (half a second and 60 MB); None if it is not installed or the disk is full.

    The package unpacks it into a temporary file.
    """
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except (ModuleNotFoundError, OSError):
        return None
    # Restricted to these: otherwise it chooses between Chinese, Wu and Cantonese, and is sure of none of them.
    identifier.set_languages(set(_NAMES))
    return identifier


def language_of(text: str) -> str | None:
    """Returns the ISO 639-1 code of a text's language; None if it is too short, or a list of names and numbers."""
    read = text[:READ_CHARS]
    identifier = _identifier()
    if identifier is None or sum(map(str.isalpha, read)) < FEWEST_LETTERS:
        return None
    code, sure = identifier.classify(read)
    return str(code) if sure >= LEAST_SURE else None


def language_name(code: str) -> str:
    """Returns a language's English name, or the code of a language that is not listed here."""
    return _NAMES.get(code, code)
