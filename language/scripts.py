"""Translates to English what questions in Chinese, Japanese and Russian ask of a catalogue; pure.

Two of them have no spaces, and the third inflects its words, so the search is for phrases instead of words. The rest of
the script is dropped, because no English course has a name in it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

READ_CHARS = 1_000
_CHINESE_DIGITS = "零一二三四五六七八九"
_TEN = "十"

_LESSON = r"(?:节课|課時|课时|节|節|课|課|讲|講|章|回|レッスン)"
_NUMBERED = re.compile(
    rf"第\s*(?P<number>\d{{1,3}}|[{_CHINESE_DIGITS}{_TEN}]{{1,3}})\s*(?:个|個)?\s*{_LESSON}"
    r"|(?:レッスン|课程?|урок(?:а|е|у|ом)?\s+(?:номер\s+|№\s*)?)\s*(?P<behind>\d{1,3})"
    r"|(?P<before>\d{1,3})(?:-?(?:й|го|м|ый|ого|ом))?\s+урок(?:а|е|у|ом)?\b",
    re.IGNORECASE,
)

# A longer phrase comes before its own parts.
_CHINESE = """
最后一(?:节课|节|课|讲|章) = the last lesson
下一(?:节课|节|课|讲|章) = the next lesson
上一(?:节课|节|课|讲|章) = the previous lesson
(?:多少|几)(?:节课|节|课|讲|个课时) = how many lessons
(?:多少|几)(?:个|门)(?:课程|课) = how many courses
(?:有)?(?:哪些|什么)(?:课程|课) = list of courses
(?:哪|那)(?:一)?(?:门|个)(?:课程|课) = which course
谁(?:在|来)?(?:教|讲|授课|上) = who teaches
(?:老师|教师|讲师|导师|教授) = teacher
(?:链接|网址|地址) = link
(?:大纲|目录|提纲|课程表|结构) = outline
(?:标题|名称|名字|叫什么) = title
(?:概括|总结|概述|摘要|概要|归纳|简介|介绍) = summarize
(?:讲了|讲|教|说|介绍)?(?:了)?(?:哪些内容|什么内容|些什么) = about
(?:讲了什么|讲什么|讲的是什么|主要内容|内容) = about
(?:这门课|本课程|课程|门课) = course
"""
_JAPANESE = """
最後の(?:レッスン|回|講義) = the last lesson
次の(?:レッスン|回|講義) = the next lesson
前の(?:レッスン|回|講義) = the previous lesson
(?:レッスン|講義)(?:は|が)?(?:いくつ|何個|何回|何本) = how many lessons
(?:どんな|どの|どのような)(?:コース|講座)(?:が)?(?:ありますか|あるか) = list of courses
(?:誰|だれ)が(?:教え|担当) = who teaches
(?:講師|先生|教師) = teacher
(?:リンク|アドレス) = link
(?:目次|構成|アウトライン|シラバス) = outline
(?:タイトル|題名|名前) = title
(?:要約|まとめ|概要) = summarize
(?:内容|何について) = about
(?:コース|講座) = course
"""
_RUSSIAN = r"""
последн\w+ урок\w* = the last lesson
следующ\w+ урок\w* = the next lesson
предыдущ\w+ урок\w* = the previous lesson
перв\w+ урок\w* = the first lesson
сколько уроков = how many lessons
сколько курсов = how many courses
как(?:ие|ой) (?:есть )?курс\w* = list of courses
кто (?:пре)?подаёт|кто преподает|кто вед[её]т|кто читает = who teaches
преподавател\w*|инструктор\w*|учител\w* = teacher
ссылк\w* = link
план\w*|программ\w*|содержани\w*|оглавлени\w* = outline
назван\w*|называется|заголов\w* = title
кратко|перескажи\w*|резюм\w*|суммируй\w*|обобщи\w* = summarize
о ч[её]м|чему посвящ[её]н\w*|что было в|что рассказ\w+ = about
курс\w* = course
урок\w* = lesson
"""


class Script(NamedTuple):
    """A script that no course in English is written in.

    Attributes:
        letters: Matches text in the script.
        phrases: Its phrases for asking a catalogue, with their English.
    """

    letters: re.Pattern[str]
    phrases: tuple[tuple[re.Pattern[str], str], ...]

    def in_english(self, question: str) -> str:
        """Returns a question for a catalogue in English, with its names; any other question unchanged."""
        text = _NUMBERED.sub(_lesson, question[:READ_CHARS])
        for pattern, english in self.phrases:
            text = pattern.sub(f" {english} ", text)
        if text == question[:READ_CHARS]:
            return question
        return " ".join(self.letters.sub(" ", text).split())


def _script(letters: str, listed: str) -> Script:
    phrases: list[tuple[re.Pattern[str], str]] = []
    for line in listed.strip().splitlines():
        written, _, english = line.partition(" = ")
        phrases.append((re.compile(written, re.IGNORECASE), english))
    return Script(re.compile(letters), tuple(phrases))


JAPANESE = _script(r"[\u3040-\u30ff\u4e00-\u9fff]+", _JAPANESE)
CHINESE = _script(r"[\u4e00-\u9fff]+", _CHINESE)
RUSSIAN = _script(r"[\u0400-\u04ff]+", _RUSSIAN)


def _lesson(found: re.Match[str]) -> str:
    written = found["number"] or found["behind"] or found["before"]
    return f" lesson {_number(written)} "


def _number(written: str) -> int:
    """Returns a number in figures, or in Chinese up to 99."""
    if written.isdigit() and written.isascii():
        return int(written)
    tens, ten, ones = written.rpartition(_TEN)
    number = _digit(ones)
    if ten:
        # "十二" is twelve, "二十" is twenty.
        number += 10 * max(_digit(tens), 1)
    return number


def _digit(written: str) -> int:
    """Returns the value of the last Chinese digit in a text; 0 if there is none."""
    return max(_CHINESE_DIGITS.find(written[-1:]), 0)
