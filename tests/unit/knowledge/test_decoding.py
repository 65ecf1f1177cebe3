# ruff: noqa: RUF001 - letters of every script are what it is about
"""Bytes of every encoding that editors write become the letters that were written, or are named as no text."""

from __future__ import annotations

import codecs
import importlib

import pytest

from antiphon.knowledge.readers import web_page
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
WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize(("language", "encoding"), EIGHT_BITS)
def test_a_text_that_says_nothing_of_its_encoding_is_read(
    language: str, encoding: str
) -> None:
    written = WRITTEN[language]

    assert decode(written.encode(encoding)) == written
    assert decode(f"A line.\n{written}\n".encode(encoding)).split("\n")[1] == written


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", ["English", "Russian", "Chinese"])
def test_wide_letters_are_read_with_a_mark_and_without(
    language: str, encoding: str
) -> None:
    written = f"1. {WRITTEN[language]}\n"

    assert decode(written.encode(encoding)) == written


def test_what_was_pasted_into_a_text_of_utf8_is_read_too() -> None:
    pasted = "The café costs ".encode() + "€ 5 — naïve.".encode("cp1252")

    assert decode(pasted) == "The café costs € 5 — naïve."


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<meta charset=koi8-r><p>{}", "koi8-r"),
        ("<meta http-equiv=Content-Type content='text/html; charset=KOI8-R'><p>{}", "koi8-r"),
        ("<?xml version='1.0' encoding='koi8-r'?>\n<html><p>{}</p></html>", "koi8-r"),
        ("<script>" + "x" * 5_000 + "</script><meta charset=koi8-r><p>{}", "koi8-r"),
        # What is declared and wrong counts for nothing.
        ("<meta charset=koi8-r><p>{}", "utf-8"),
        ("<meta charset=utf8mb4><p>{}", "utf-8"),
        ("<meta charset=hex><p>{}", "utf-8"),
        ("<meta charset=utf-8><p>{}", "cp1251"),
        ("<script charset=utf-8 src=a.js></script><p>{}", "cp1251"),
        ("<p>{}", "utf-8"),
        ("<p>{}", "utf-16-le"),
    ],
)  # fmt: skip
def test_a_page_is_read_in_its_encoding_whatever_it_declares(
    page: str, encoding: str
) -> None:
    data = page.format(WRITTEN["Russian"]).encode(encoding)

    lines = [line.text for line in web_page.read(data).lines if line.text]

    assert lines == [WRITTEN["Russian"]]


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 500,
        b"GIF89a\0\0\0\0",
        b"Some words\0 and more words.",
        bytes(range(1, 32)) * 9,
        bytes(range(256)) * 9,
        codecs.BOM_UTF16_LE + b"a",
    ],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode(data)


def test_text_that_is_no_language_in_any_encoding_is_named() -> None:
    data = bytes(byte for byte in range(0x80, 0x100) if byte != 0xA0) * 3

    with pytest.raises(UnreadableError, match="no known encoding; save it as UTF-8"):
        decode(data)


def test_texts_are_read_without_the_extra_that_reads_other_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)

    assert decode(WRITTEN["Russian"].encode("cp1251")) == WRITTEN["Russian"]
    with pytest.raises(UnreadableError, match="save it as UTF-8"):
        decode(WRITTEN["Thai"].encode("cp874"))
