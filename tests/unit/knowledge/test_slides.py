"""Slides: what a slide shows and what its speaker says, in order, once."""

from __future__ import annotations

import pytest

from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import slides
from antiphon.knowledge.readers.content import Content, UnreadableError
from tests.office_files import (
    DECLARED,
    chart,
    deck_file,
    diagram,
    paragraph,
    series,
    shape,
    word_file,
)

TITLE = 'type="title"'
BODY = 'idx="1"'


def texts(content: Content) -> list[str]:
    return [line.text for line in content.lines if line.text]


def read(*shown: str, **parts: str) -> list[str]:
    return texts(slides.read(deck_file(list(shown), parts=parts)))


def framed(inner: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"


def cell(text: str, attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"


SHOWN = {
    "points of the body, and text beside it": (
        shape("One", "Two", placeholder=BODY) + shape("Aside"),
        ["- One", "- Two", "Aside"],
    ),
    "paragraphs with and without bullets": (
        shape("a", placeholder=BODY, properties="<a:buNone/>")
        + shape("b", properties='<a:buChar char="x"/>')
        + shape("c", "d", properties='<a:buAutoNum startAt="3"/>'),
        ["a", "- b", "3. c", "4. d"],
    ),
    "a group in a group": (
        f"<p:grpSp><p:grpSp>{shape('Deep')}</p:grpSp></p:grpSp>",
        ["Deep"],
    ),
    "one of two forms": (
        "<mc:AlternateContent><mc:Choice Requires='a14'><p:sp><p:txBody><a:p><a14:m><m:oMath><m:r><m:t>v=17</m:t></m:r>"
        f"</m:oMath></a14:m></a:p></p:txBody></p:sp></mc:Choice><mc:Fallback>{shape('No formula')}</mc:Fallback>"
        "</mc:AlternateContent>",
        ["v=17"],
    ),
    "the other of two forms": (
        f"<mc:AlternateContent><mc:Choice/><mc:Fallback>{shape('Seen')}</mc:Fallback></mc:AlternateContent>",
        ["Seen"],
    ),
    "a table": (
        framed(
            f"<a:tbl><a:tr>{cell('Stage')}{cell('Bar')}</a:tr><a:tr>{cell('5')}{cell('5')}</a:tr>"
            f"<a:tr>{cell('All', 'gridSpan=&quot;2&quot;')}{cell('', 'hMerge=&quot;1&quot;')}</a:tr></a:tbl>"
        ).replace("&quot;", '"'),
        ["| Stage | Bar |", "| 5 | 5 |", "| All |"],
    ),
    "a chart and a diagram": (
        framed('<c:chart r:id="chart"/>') + framed('<dgm:relIds r:dm="diagramData"/>'),
        ["Daily consumption", "| | Litres |", "| Winter | 412 |", "- Plan", "- Do"],
    ),
    "a chart of the newer kinds": (
        framed('<cx:chart r:id="chartEx"/>'),
        ["Rainfall", "| May | 31.5 |"],
    ),
}
PARTS = {
    "chart": chart("Daily consumption", series("Litres", {"Winter": "412"})),
    "diagramData": diagram(
        {"0": "", "2": "Do", "1": "Plan"}, [("0", "1"), ("0", "2"), ("2", "0")]
    ),
    "chartEx": (
        f"<cx:chartSpace {DECLARED}><cx:chartData><cx:data><cx:strDim><cx:lvl><cx:pt idx='0'>May</cx:pt></cx:lvl>"
        "</cx:strDim><cx:numDim><cx:lvl><cx:pt idx='0'>31.5</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>"
        "<cx:chart><cx:title><cx:tx><cx:txData><cx:v>Rainfall</cx:v></cx:txData></cx:tx></cx:title></cx:chart>"
        "</cx:chartSpace>"
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_slide_is_read_as_it_is_shown(name: str) -> None:
    shown, expected = SHOWN[name]

    assert [" ".join(text.split()) for text in read(shown, **PARTS)] == expected


def test_a_title_stands_over_its_slide_and_is_read_where_nothing_else_is() -> None:
    deck = deck_file(
        [
            shape("Cavitation destroys impellers", placeholder=TITLE),
            shape("Over", placeholder='type="ctrTitle"') + shape("Under"),
        ]
    )

    content = slides.read(deck)

    assert content.other_title == "Cavitation destroys impellers"
    (section,) = parse_content(content).sections
    assert section.text == "Cavitation destroys impellers\n\nUnder"
    assert [(mark.place, mark.heading) for mark in section.marks] == [
        ("slide 1", "Cavitation destroys impellers"),
        ("slide 2", "Over"),
    ]


def test_notes_follow_their_slide_without_what_is_printed_around_them() -> None:
    notes = shape("Say this.", "Then that.", placeholder='type="body"')
    around = shape("7", placeholder='type="sldNum"')

    content = slides.read(deck_file([shape("Shown"), shape("Next")], notes + around))

    assert texts(content) == ["Shown", "Say this.", "Then that.", "Next"]


def test_a_footer_is_read_once_and_the_number_of_a_slide_is_its_place() -> None:
    around = shape("Pump house", placeholder='type="ftr"') + shape(
        "7", placeholder='type="sldNum"'
    )

    assert read(shape("One") + around, shape("Two") + around) == [
        "One",
        "Pump house",
        "Two",
    ]


def test_a_hidden_slide_is_read_for_whoever_has_the_file_sees_it() -> None:
    content = slides.read(
        deck_file([shape("The code is 7714.")], attributes='show="0"')
    )

    assert texts(content) == ["The code is 7714."]


def test_what_is_not_read_is_said_in_a_line_for_each_kind() -> None:
    picture = (
        '<p:pic><p:nvPicPr><p:cNvPr id="1" name="x" descr="{}"/>{}</p:nvPicPr></p:pic>'
    )
    shown = (
        picture.format("", "")
        + picture.format("A pump cut open", "")
        + picture.format("", "<p:nvPr><a:videoFile/></p:nvPr>")
        + framed(
            "<mc:AlternateContent><mc:Choice><p:oleObj/></mc:Choice><mc:Fallback><p:oleObj>"
            f"{picture.format('', '')}</p:oleObj></mc:Fallback></mc:AlternateContent>"
        )
        + framed('<c:chart r:id="chart"/>')
        + shape("Text")
    )

    content = slides.read(
        deck_file([shown], parts={"chart": "<broken", "comments": "<x><y/><y/></x>"})
    )

    assert texts(content) == ["[picture: A pump cut open]", "Text"]
    assert content.losses == (
        "1 drawing without text",
        "1 embedded file was not read",
        "1 video or sound was not read",
        "2 comments are not indexed",
        "1 part of the file is broken",
    )


def test_a_word_document_is_no_presentation() -> None:
    with pytest.raises(UnreadableError, match="it is not a presentation"):
        slides.read(word_file(paragraph("x")))
