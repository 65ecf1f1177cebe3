"""The language that a text is written in, told from its letters by py3langid (https://github.com/adbar/py3langid)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

READ_CHARS = 20_000
"""Of a whole course the beginning tells enough, and a hundred megabytes would take seconds."""
FEWEST_LETTERS = 12
"""A sentence in Han letters; of Latin ones these are two or three words, of which the identifier is seldom sure."""
LEAST_SURE = 0.8
"""Of a sentence the identifier is seldom less sure, of a list of names or numbers it always is (measured)."""
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
    """Loads the model, half a second and 60 MB, for the first language; None if it is not installed or has no room.

    It is unpacked into a temporary file.
    """
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except (ModuleNotFoundError, OSError):
        return None
    # Of these alone: it tells Chinese from Wu and Cantonese, and is then sure of none of them.
    identifier.set_languages(set(_NAMES))
    return identifier


def language_of(text: str) -> str | None:
    """Returns the ISO 639-1 code of a text's language; None if it is too short to tell, or holds names and numbers."""
    read = text[:READ_CHARS]
    identifier = _identifier()
    if identifier is None or sum(map(str.isalpha, read)) < FEWEST_LETTERS:
        return None
    code, sure = identifier.classify(read)
    return str(code) if sure >= LEAST_SURE else None


def language_name(code: str) -> str:
    """Returns a language's English name; of one that is not listed here, its code."""
    return _NAMES.get(code, code)
