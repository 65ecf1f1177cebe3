"""Letters of other alphabets that look like Latin ones, which may disguise orders to a model; pure.

The pairs are the everyday ones of Unicode's confusables (https://www.unicode.org/Public/security/latest/confusables.txt);
Unicode normalisation handles full-width, mathematical and accented letters.
"""

from __future__ import annotations

import unicodedata
from itertools import filterfalse

_PAIRS = (
    "аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ԛq ԝw ѵv ьb кk мm нh тt вb гr пn зe ԍg ɡg ɩi ıi ƅb "
    "АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS ԚQ ԜW "
    "αa εe ιi κk νv οo ρp τt υu χx ωw γy ηn ϲc ϳj "
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX "
    "աw օo սu ցg հh ոn ӕa"
)  # fmt: skip
_LATIN = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})


def as_latin(text: str) -> str:
    """Replaces letters that look like Latin ones by those; one letter may become two or none."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text)
    return "".join(filterfalse(unicodedata.combining, plain)).translate(_LATIN)
