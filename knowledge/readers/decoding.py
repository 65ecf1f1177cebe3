"""The one decoder of text: decodes bytes in any encoding that editors write, or explains why they are no text.

It decides by the first of these that applies: a byte-order mark; valid UTF-8; the encoding that the file declares;
UTF-16 or UTF-32 by the places of their NUL bytes; UTF-8 with stray bytes of Windows; the encoding in which most words
are words of its languages (wordfreq's lists); the result of charset-normalizer, from the letters.
"""

from __future__ import annotations

import codecs
import importlib
import re
import unicodedata
from functools import lru_cache

from antiphon.knowledge.readers.content import UnreadableError
from antiphon.language.commonness import listed_words

_MARKS = (
    # UTF-32 first: its mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# In a shorter text any bytes may be letters of some script.
_FEWEST_WIDE = 8
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_WEST = "en fr de es pt it nl sv da nb fi ca"
_EAST = "pl cs hu sk sl sh ro"
_LANGUAGES = {
    "cp1252": _WEST,
    "cp1250": _EAST,
    "iso8859_2": _EAST,
    "cp1251": "ru uk bg mk",
    "koi8_r": "ru",
    "cp866": "ru",
    "iso8859_5": "ru",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar fa",
    "cp1257": "lt lv",
    "cp850": _WEST,
    "cp852": _EAST,
    "gb18030": "zh",
    "cp932": "ja",
    "euc_jp": "ja",
    "cp949": "ko",
    # Without the lists of words, charset-normalizer decides.
    "big5hkscs": "",
    "cp874": "",
}
"""The candidate encodings, with languages written in them; of two with the same result the first wins."""
_UNSPACED = frozenset(("zh", "ja"))
# Common names of encodings, and the encoding that editors then write
# (https://encoding.spec.whatwg.org/#names-and-labels).
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_LEAST_KNOWN_SHARE = 0.3
# Only the ten thousand commonest words: the lists continue with names and misspellings.
_LEAST_ZIPF = 3.5
# Single letters between spaces: a common encoding reads any bytes as rare letters.
_LEAST_ZIPF_ALONE = 4.5
_SAMPLE_BYTES = 50_000
_PRINTABLE = re.compile(rb"[\t\n\r -~]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_WORD = re.compile(r"[^\W\d_]+")
# Beyond ASCII: letters, and signs that no text has within its words; no punctuation of any language.
_COUNTED = re.compile(
    "[^\0-\x7f\xa0\xa1\xa7\xa9\xab\xae\xb0\xb7\xbb\xbf\u2010-\u2026\u20ac\u2122\u3000-\u301f\uff00-\uff1f]"
)
# The result of "surrogateescape" for bytes that are not UTF-8.
_UNDECODED = re.compile("[\udc80-\udcff]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# A short text may hold a few stray controls; beyond that one in a hundred characters means a binary file.
_MAX_CONTROL_SHARE = 0.01
_FEW_CONTROLS = 8
# Languages in other scripts than Latin have more of them.
_MAX_STRAY_SHARE = 0.15
_FEW_STRAYS = 2
_MAX_PRINTABLE_SHARE = 0.75


def decode_bytes(data: bytes, declared: str = "") -> str:
    """Decodes a file's bytes.

    Args:
        declared: The encoding that the file names; an unknown or a wrong one is ignored.

    Raises:
        UnreadableError: They look binary, or are text in no known encoding.
    """
    text = _decoded(data, declared)
    allowed = max(_FEW_CONTROLS, len(text) * _MAX_CONTROL_SHARE)
    if len(_CONTROL.findall(text)) > allowed:
        raise UnreadableError(
            "it looks like a binary file: too many control characters"
        )
    return text


def _decoded(data: bytes, declared: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data, encoding)
    if b"\0" in data:
        return _wide(data)
    named = _strictly(data, _meant(declared))
    # A seven-bit encoding looks like UTF-8; only its escape sequences give it away.
    if b"\x1b$" in data:
        return (
            named or _strictly(data, "iso2022_jp_2") or data.decode("utf-8", "replace")
        )
    return _strictly(data, "utf-8") or named or _guessed(data)


def _marked(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"it starts as {encoding.upper()} and does not go on so (byte {error.start})"
        ) from error


def _strictly(data: bytes, encoding: str) -> str:
    """Decodes bytes in that encoding; returns an empty text if they are not in it."""
    if not encoding:
        return ""
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return ""


def _meant(declared: str) -> str:
    """Returns the encoding that a name means; empty if it means no text encoding."""
    try:
        found = codecs.lookup(declared.strip())
        # "hex" and "zip" are Python codecs too, but not for text.
        "".encode(found.name)
    except (LookupError, ValueError, TypeError):
        return ""
    return _MEANT.get(found.name, found.name)


def _wide(data: bytes) -> str:
    """Decodes UTF-16 or UTF-32 without a mark, recognised by the places of its NUL bytes."""
    printable = len(_PRINTABLE.findall(data[:_SAMPLE_BYTES]))
    # In wide characters every second byte gives the script, and is mostly no ASCII letter.
    is_narrow = printable > len(data[:_SAMPLE_BYTES]) * _MAX_PRINTABLE_SHARE
    for encoding in () if is_narrow else _WIDE:
        text = _strictly(data, encoding)
        if len(text) >= _FEWEST_WIDE and _is_text(text):
            return text
    raise UnreadableError("it looks like a binary file: it holds NUL bytes")


def _is_text(text: str) -> bool:
    """Returns True if the beginning of a text holds only written characters and white space."""
    beginning = text[:2_000]
    odd = 0
    for character in beginning:
        kind = unicodedata.category(character)
        if kind in ("Cn", "Co", "Cs") or (kind == "Cc" and not character.isspace()):
            odd += 1
    # In the wrong byte order, ASCII becomes Chinese without spaces.
    is_ascii_turned = any(character in beginning for character in "\u2000\u0a00\u0d00")
    return odd == 0 and not is_ascii_turned


def _guessed(data: bytes) -> str:
    """Decodes eight-bit text without any hint of its encoding."""
    if _is_mostly_utf8(data):
        return _UNDECODED.sub(_windows_1252, data.decode("utf-8", "surrogateescape"))
    sample = _sample(data)
    encoding = _by_words(sample)
    if not encoding:
        strays = sum(map(len, _HIGH_RUN.findall(sample)))
        is_western = strays <= max(_FEW_STRAYS, len(sample) * _MAX_STRAY_SHARE)
        encoding = "cp1252" if is_western else _by_letters(sample)
    if not encoding:
        raise UnreadableError("it is text in no known encoding; save it as UTF-8")
    return data.decode(encoding, "replace")


def _is_mostly_utf8(data: bytes) -> bool:
    """Returns True for UTF-8 with some bytes of another encoding, left by pasting and cutting.

    Two bytes of another encoding are sometimes valid UTF-8 by chance; long runs of them hardly ever are.
    """
    valid = strays = 0
    longest_stray = 0
    for run in _HIGH_RUN.findall(data):
        if _strictly(run, "utf-8"):
            valid += 1
        else:
            strays += 1
            longest_stray = max(longest_stray, len(run))
    if longest_stray <= 2:
        return valid * 4 >= strays
    return valid >= 10 * strays


def _windows_1252(found: re.Match[str]) -> str:
    return found.group().encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def _sample(data: bytes) -> bytes:
    """Returns the first lines that are not ASCII, because the others give no evidence."""
    lines = []
    length = 0
    for line in data.splitlines():
        if length > _SAMPLE_BYTES:
            break
        if not line.isascii():
            lines.append(line)
            length += len(line)
    return b"\n".join(lines)[:_SAMPLE_BYTES]


def _begun(sample: bytes, encoding: str) -> str:
    """Decodes a sample that may end within a character; returns an empty text if it is not in that encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return ""


def _by_words(sample: bytes) -> str:
    """Returns the encoding in which most letters that are not ASCII are in common words of one of its languages."""
    best = ""
    best_share = _LEAST_KNOWN_SHARE
    for encoding, languages in _LANGUAGES.items():
        text = _begun(sample, encoding).lower()
        for language in languages.split():
            share = _known_share(text, language)
            if share > best_share:
                best, best_share = encoding, share
    return best


def _known_share(text: str, language: str) -> float:
    """Returns the share of the characters beyond ASCII, except punctuation, that are in common words."""
    counted = len(_COUNTED.findall(text))
    if not counted:
        return 0.0
    known = _common_words(language)
    terms = _WORD.findall(text)
    if language in _UNSPACED:
        # A letter in a word that is half ASCII is two bytes decoded by mistake.
        terms = [
            letter for word in terms if len(word) == _letters(word) for letter in word
        ]
    return sum(_letters(term) for term in terms if term in known) / counted


def _letters(term: str) -> int:
    return len(_COUNTED.findall(term))


@lru_cache(maxsize=64)
def _common_words(language: str) -> frozenset[str]:
    # Single letters between spaces are no evidence if other words are longer.
    shortest = 1 if language in _UNSPACED else 2
    least = _LEAST_ZIPF_ALONE if language in _UNSPACED else _LEAST_ZIPF
    return frozenset(
        word
        for word, frequency in listed_words(language)
        if frequency >= least and len(word) >= shortest and not word.isascii()
    )


def _by_letters(sample: bytes) -> str:
    try:
        charset_normalizer = importlib.import_module("charset_normalizer")
    except ModuleNotFoundError:
        # Reading plain text must work without the extra `documents`.
        return ""
    found = charset_normalizer.from_bytes(sample, cp_isolation=list(_LANGUAGES)).best()
    return "" if found is None else str(found.encoding)
