# ruff: noqa: RUF001 - letters of every script are what it is about
"""Bytes of every encoding that editors write become the letters that were written, or are named as no text."""

from __future__ import annotations

import importlib

import pytest

from antiphon.knowledge.readers.content import UnreadableError
from antiphon.knowledge.readers.plain_text import decode

WRITTEN = {
    "Russian": "Якорь весит девять тонн. Корабль стоит в гавани уже третий день.",
    "Ukrainian": "Якір важить дев'ять тонн. Ланцюг має довжину триста метрів.",
    "Chinese": "锚重九吨。船舶课程的第一课介绍锚和锚链的重量与长度。",
    "Taiwanese": "錨重九噸。這條船的錨鏈長三百米，船長說明天會下雨。",
    "Japanese": "錨は九トンです。連絡船は七時に出ます。",
    "Korean": "닻의 무게는 아홉 톤이다. 사슬의 길이는 삼백 미터이다.",
    "Polish": "Kotwica waży dziewięć ton. Łańcuch ma trzysta metrów długości.",
    "Czech": "Kotva váží devět tun. Řetěz je dlouhý tři sta metrů.",
    "Hungarian": "A horgony kilenc tonnát nyom. A lánc háromszáz méter hosszú.",
    "French": "L'ancre pèse neuf tonnes. La chaîne a été forgée à Brême.",
    "German": "Der Anker wiegt neun Tonnen und ist für große Schiffe schwer.",
    "Greek": "Η άγκυρα ζυγίζει εννέα τόνους.",
    "Turkish": "Çapa dokuz ton ağırlığındadır. Zincir çelikten yapılmıştır.",
    "Hebrew": "העוגן שוקל תשעה טון.",
    "Arabic": "وزن المرساة تسعة أطنان.",
    "Lithuanian": "Inkaras sveria devynias tonas. Grandinė yra trijų šimtų metrų.",
    "Thai": "สมอมีน้ำหนักเก้าตัน โซ่ยาวสามร้อยเมตร",
    "English": "The anchor\u2019s chain \u2013 \u201cheavy\u201d \u2013 costs \u20ac5.",
}
EIGHT_BITS = [
    ("Russian", "cp1251"),
    ("Russian", "koi8-r"),
    ("Russian", "cp866"),
    ("Russian", "iso8859-5"),
    ("Ukrainian", "cp1251"),
    ("Chinese", "gbk"),
    ("Taiwanese", "big5"),
    ("Japanese", "shift_jis"),
    ("Japanese", "euc-jp"),
    ("Japanese", "iso2022-jp"),
    ("Korean", "euc-kr"),
    ("Polish", "cp1250"),
    ("Polish", "iso8859-2"),
    ("Czech", "cp1250"),
    ("Czech", "iso8859-2"),
    ("Hungarian", "iso8859-2"),
    ("French", "cp1252"),
    ("German", "latin-1"),
    ("German", "cp850"),
    ("Greek", "cp1253"),
    ("Turkish", "cp1254"),
    ("Hebrew", "cp1255"),
    ("Arabic", "cp1256"),
    ("Lithuanian", "cp1257"),
    ("Thai", "cp874"),
    ("English", "cp1252"),
]


@pytest.mark.parametrize(("language", "encoding"), EIGHT_BITS)
def test_a_text_that_says_nothing_of_its_encoding_is_read(
    language: str, encoding: str
) -> None:
    written = WRITTEN[language]

    assert decode(written.encode(encoding)) == written
    assert decode(f"A line.\n{written}\n".encode(encoding)).split("\n")[1] == written


def test_texts_are_read_without_the_extra_that_reads_other_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)

    assert decode(WRITTEN["Russian"].encode("cp1251")) == WRITTEN["Russian"]
    with pytest.raises(UnreadableError, match="save it as UTF-8"):
        decode(WRITTEN["Thai"].encode("cp874"))
