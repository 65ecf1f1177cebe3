"""OpenDocument: what stands on the pages of a text or a presentation is read in its order, once."""

from __future__ import annotations

import pytest

from antiphon.knowledge.readers import open_document
from antiphon.knowledge.readers.content import Content, UnreadableError
from tests.office_files import OPEN, open_file, paragraph, word_file, zipped

STYLES = (
    '<style:style style:name="P1" style:parent-style-name="Title"/>'
    '<style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>'
    '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"'
    ' style:num-suffix="."/><text:list-level-style-bullet text:level="2"/></text:list-style>'
    '<text:list-style style:name="L2"><text:list-level-style-number text:level="1" style:num-format="a"'
    ' style:num-suffix=")" text:start-value="3"/></text:list-style>'
)


def texts(content: Content) -> list[str]:
    return [" ".join(line.text.split()) for line in content.lines if line.text.strip()]


def text(body: str, **parts: str) -> Content:
    named = {name.replace("_", "/"): xml for name, xml in parts.items()}
    return open_document.read_text(open_file(body, styles=STYLES, parts=named))


def p(inner: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{inner}</text:p>'


def listed(style: str, *items: str, attributes: str = "") -> str:
    inner = "".join([f"<text:list-item>{item}</text:list-item>" for item in items])
    return f'<text:list text:style-name="{style}" {attributes}>{inner}</text:list>'


def cell(inner: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}>{p(inner)}</table:table-cell>"


SHOWN = {
    "text between its parts": (
        p("one <text:span>two</text:span> three\n   four<text:s text:c='2'/>five<text:tab/>six"),
        ["one two three four five six"],
    ),
    "what was deleted and what is hidden": (
        f"<text:tracked-changes><text:changed-region>{p('gone')}</text:changed-region></text:tracked-changes>"
        + p("lasts <text:change-start/>seven<text:change-end/> years")
        + p("<text:span text:style-name='T1'>unseen</text:span>")
        + p("unseen", "T1")
        + f"<text:section text:display='none'>{p('unseen')}</text:section>",
        ["lasts seven years"],
    ),
    "a note": (
        p(
            "Lifts<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            f"{p('At 20 degrees.')}</text:note-body></text:note> water."
        ),
        ["Lifts water.", "[note: At 20 degrees.]"],
    ),
    "a text box": (
        p(f"Above.<draw:frame><draw:text-box>{p('Never run it dry.')}</draw:text-box></draw:frame>"),
        ["Above.", "Never run it dry."],
    ),
    "lists": (
        listed("L1", p("open") + listed("", p("wait")), p("close"))
        + listed("L1", p("rest"), attributes='text:continue-numbering="true"')
        + listed("L2", p("see"))
        + p("After."),
        ["1. open", "- wait", "2. close", "3. rest", "- c) see", "After."],
    ),
    "a program": (
        p("if x:", "P2") + p("<text:s text:c='4'/>y()", "P2"),
        ["```", "if x:", "y()", "```"],
    ),
    "a table with equal, wide and high cells": (
        "<table:table><table:table-column/><table:table-header-rows><table:table-row>"
        + cell("a") + cell("a") + "<table:table-cell table:number-columns-repeated='999999999'/></table:table-row>"
        + "</table:table-header-rows><table:table-row>" + cell("wide", 'table:number-columns-spanned="2"')
        + "<table:covered-table-cell/></table:table-row><table:table-row><table:covered-table-cell/>"
        + cell("b", 'table:number-columns-repeated="2"') + "</table:table-row></table:table>",
        ["| a | a | |", "| wide |", "| | b | b |"],
    ),
    "a formula and a chart": (
        p(
            "<draw:frame><draw:object xlink:href='./Object 1'/><draw:image/></draw:frame>"
            "<draw:frame><draw:object xlink:href='./Object 2'/></draw:frame>"
        ),
        ["a over b", "Flow", "| Winter | 412 |"],
    ),
}  # fmt: skip
OBJECTS = {
    "Object 1_content.xml": (
        "<math xmlns='http://www.w3.org/1998/Math/MathML'><semantics><mi>a</mi><annotation>a over b</annotation>"
        "</semantics></math>"
    ),
    "Object 2_content.xml": (
        f"<office:document-content {OPEN}><office:body><office:chart><chart:chart>"
        f"<chart:title>{p('Flow')}</chart:title>"
        f"<table:table><table:table-row>{cell('Winter')}{cell('412')}</table:table-row></table:table></chart:chart>"
        "</office:chart></office:body></office:document-content>"
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_text_is_read_as_it_is_seen(name: str) -> None:
    body, expected = SHOWN[name]

    assert texts(text(body, **OBJECTS)) == expected


def test_headings_have_their_levels_and_the_title_is_the_one_on_the_page() -> None:
    meta = f"<office:document-meta {OPEN}><dc:title>Template</dc:title></office:document-meta>"

    content = text(
        p("Pumps", "P1")
        + '<text:h text:outline-level="2">Start</text:h><text:h>Stop</text:h>'
        + p("Text."),
        **{"meta.xml": meta},
    )

    assert (content.title, content.other_title) == ("Pumps", "Template")
    assert [(line.text, line.level) for line in content.lines if line.text] == [
        ("Start", 2),
        ("Stop", 1),
        ("Text.", 0),
    ]


def test_slides_have_their_titles_notes_and_places() -> None:
    def frame(kind: str, inner: str) -> str:
        return f'<draw:frame presentation:class="{kind}"><draw:text-box>{p(inner)}</draw:text-box></draw:frame>'

    shape = f"<draw:g><draw:custom-shape>{p('In a shape')}</draw:custom-shape></draw:g>"
    body = (
        f"<draw:page>{frame('title', 'Pumps')}{shape}{frame('footer', 'Dry dock')}"
        f"<presentation:notes>{frame('notes', 'Say this.')}</presentation:notes></draw:page>"
        f"<draw:page>{frame('title', 'Alone')}</draw:page>"
    )

    content = open_document.read_slides(open_file(body, "presentation"))

    assert content.other_title == "Pumps"
    assert texts(content) == ["In a shape", "Say this.", "Alone"]
    assert [(line.place, line.heading) for line in content.lines if line.place] == [
        ("slide 1", "Pumps"),
        ("slide 2", "Alone"),
    ]


def test_what_is_not_read_is_said_in_a_line_for_each_kind() -> None:
    content = text(
        p(
            "Text<office:annotation><text:p>why?</text:p></office:annotation><draw:frame><draw:image/></draw:frame>"
            "<draw:frame><draw:object-ole/><draw:image/></draw:frame><draw:frame><draw:plugin/></draw:frame>"
            "<draw:frame><draw:image/><svg:desc>A pump cut open</svg:desc></draw:frame>"
        )
    )

    assert texts(content) == ["Text", "[picture: A pump cut open]"]
    assert content.losses == (
        "1 drawing without text",
        "1 embedded file was not read",
        "1 video or sound was not read",
        "1 comment is not indexed",
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (word_file(paragraph("x")), "it is not an OpenDocument text"),
        (open_file("", "presentation"), "it is not an OpenDocument text"),
        (
            zipped({"content.xml": "\0", "META-INF/manifest.xml": "encryption-data"}),
            "it is encrypted",
        ),
        (open_file(p("x"))[:200], "was cut short"),
        (
            zipped({"content.xml": "<!DOCTYPE x [<!ENTITY e 'y'>]><x/>"}),
            "document type",
        ),
    ],
)
def test_what_is_no_such_text_is_refused_in_plain_words(
    data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        open_document.read_text(data)
