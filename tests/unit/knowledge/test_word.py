"""Word documents: what stands on the page is read in its order, once, and what does not is left out."""

from __future__ import annotations

import io
import zipfile

import pytest

from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import word
from antiphon.knowledge.readers.content import Content, UnreadableError
from tests.office_files import (
    DECLARED,
    STANDARD,
    chart,
    diagram,
    paragraph,
    relations,
    run,
    series,
    word_file,
    zipped,
)

BOX = f"<w:txbxContent>{paragraph('Never run it dry.')}</w:txbxContent>"
FORMULA = "<m:oMath><m:r><m:t>{}</m:t></m:r></m:oMath>"


def texts(content: Content) -> list[str]:
    return [" ".join(line.text.split()) for line in content.lines if line.text.strip()]


def read(body: str, **parts: str) -> list[str]:
    return texts(word.read(word_file(body, parts)))


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join([f'<w:tr>{each}</w:tr>' for each in rows])}</w:tbl>"


def drawing(inner: str) -> str:
    return (
        f"<w:p><w:r><w:drawing><wp:inline>{inner}</wp:inline></w:drawing></w:r></w:p>"
    )


UNSEEN = '<w:rStyle w:val="Unseen"/>'
STYLES = f"""<w:styles {DECLARED}>
<w:style w:styleId="Unseen"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:styleId="Flat"><w:name w:val="Flat"/><w:basedOn w:val="Own"/>
<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:styleId="Circle"><w:name w:val="Circle"/><w:basedOn w:val="Circle"/></w:style>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Listing"><w:name w:val="Source Code"/></w:style>
<w:style w:styleId="Points"><w:name w:val="List Bullet"/></w:style>
</w:styles>"""

IN_A_PARAGRAPH = {
    "a tracked insertion": (
        run("lasts ") + f"<w:ins>{run('seven')}</w:ins>" + run(" years"),
        "lasts seven years",
    ),
    "a tracked deletion": (
        run("lasts ") + "<w:del><w:r><w:delText>six</w:delText></w:r></w:del>" + run("long"),
        "lasts long",
    ),
    "moved text": (
        f"<w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run('here')}</w:moveTo>",
        "here",
    ),
    "a control": (
        run("flow ") + f"<w:sdt><w:sdtPr/><w:sdtContent>{run('31 litres')}</w:sdtContent></w:sdt>",
        "flow 31 litres",
    ),
    "a smart tag in a link": (
        f"<w:hyperlink><w:smartTag>{run('Lisbon')}</w:smartTag></w:hyperlink>",
        "Lisbon",
    ),
    "a simple field": (
        f'<w:fldSimple w:instr="PAGE">{run("12")}</w:fldSimple>',
        "12",
    ),
    "a field": (
        field("begin") + run("= 2 + 3") + field("separate") + run("five") + field("end") + run(" apples"),
        "five apples",
    ),
    "a field in the instruction of another": (
        field("begin") + field("begin") + field("separate") + run("no") + field("end")
        + field("separate") + run("yes") + field("end"),
        "yes",
    ),
    "hidden words that are also seen": (
        run("in May. ") + run("in May. ", "<w:vanish/>") + run("May be early"),
        "in May. May be early",
    ),
    "words that a style hides, or would": (
        run("shown", f'{UNSEEN}<w:vanish w:val="0"/>') + run("hidden", UNSEEN),
        "shown",
    ),
    "tabs, breaks and hyphens": (
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:tab/><w:t>e</w:t><w:noBreakHyphen/><w:t>mail</w:t></w:r>",
        "a b e-mail",
    ),
    "symbols": (
        '<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Arial" w:char="00BD"/></w:r>',
        "\u03b1\u00bd",
    ),
    "a word with its reading": (
        f"<w:r><w:ruby><w:rt>{run('toukyou')}</w:rt><w:rubyBase>{run('TOKYO')}</w:rubyBase></w:ruby></w:r>",
        "TOKYO(toukyou)",
    ),
    "a formula in a sentence": (
        run("so ") + FORMULA.format("E=mc") + run(", it is"),
        "so E=mc, it is",
    ),
    "formulas that touch words": (
        run("so") + FORMULA.format("x") + FORMULA.format("y") + run("is"),
        "so x y is",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_A_PARAGRAPH)
def test_a_paragraph_is_read_as_it_is_seen(name: str) -> None:
    inner, expected = IN_A_PARAGRAPH[name]

    assert read(f"<w:p>{inner}</w:p>", styles=STYLES) == [expected]


BLOCKS = {
    "a content control": (
        f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('Greased.')}</w:sdtContent></w:sdt>",
        ["Greased."],
    ),
    "a text box in two forms": (
        "<w:p>" + run("Above.") + "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>"
        f"{BOX}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{BOX}</v:textbox></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r></w:p>",
        ["Above.", "Never run it dry."],
    ),
    "a form that says nothing beside one that does": (
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing/></mc:Choice><mc:Fallback><w:pict><v:textbox>"
        f"{BOX}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        ["Never run it dry."],
    ),
    "letters as art": (
        '<w:p><w:r><w:pict><v:shape><v:textpath string="Welcome"/></v:shape></w:pict></w:r></w:p>',
        ["Welcome"],
    ),
    "a large first letter": (
        paragraph("O", '<w:framePr w:dropCap="drop"/>') + paragraph("nce upon a time"),
        ["Once upon a time"],
    ),
    "a paragraph whose end is deleted": (
        paragraph("lasts ", "<w:rPr><w:del/></w:rPr>") + paragraph("seven years"),
        ["lasts seven years"],
    ),
    "equal cells and one over two rows": (
        table(
            cell("Start") + cell("5") + cell("5"),
            cell("Run", '<w:vMerge w:val="restart"/>') + cell("8", '<w:gridSpan w:val="2"/>'),
            cell("Run", "<w:vMerge/>") + cell("9"),
        ),
        ["| Start | 5 | 5 |", "| Run | 8 |", "| | 9 |"],
    ),
    "rows and cells in controls, and deleted ones": (
        "<w:tbl><w:sdt><w:sdtContent><w:tr>" + cell("a")
        + f"<w:sdt><w:sdtContent>{cell('b')}</w:sdtContent></w:sdt>{cell('x', '<w:cellDel/>')}"
        + f"</w:tr></w:sdtContent></w:sdt><w:tr><w:trPr><w:del/></w:trPr>{cell('gone')}{cell('gone')}</w:tr></w:tbl>",
        ["| a | b |"],
    ),
    "a table in a cell": (
        table(
            cell("Model A")
            + "<w:tc>" + paragraph("Parts") + table(cell("Impeller") + cell("bronze")) + paragraph("") + "</w:tc>"
        ),
        ["| Model A | Parts |", "| Impeller | bronze |"],
    ),
    "a frame of one cell": (
        table("<w:tc>" + paragraph("One.") + paragraph("Two.") + "</w:tc>"),
        ["One.", "Two."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_boxes_controls_and_tables_are_read_once_and_at_their_place(name: str) -> None:
    body, expected = BLOCKS[name]

    assert read(body) == expected


def test_a_note_stands_behind_its_paragraph_and_is_read_once() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = (
        f'<w:footnotes {DECLARED}><w:footnote w:id="0">{paragraph("separator")}</w:footnote>'
        f'<w:footnote w:id="2"><w:p>{mark}{run("Measured at 20 degrees.")}</w:p></w:footnote></w:footnotes>'
    )

    found = read(f"<w:p>{run('Lifts')}{mark}{run(' water.')}</w:p>", footnotes=notes)

    assert found == ["Lifts water.", "[note: Measured at 20 degrees.]"]


def test_charts_and_diagrams_are_read_where_they_stand() -> None:
    body = (
        drawing('<c:chart r:id="chart"/>')
        + drawing('<dgm:relIds r:dm="diagramData"/>')
        + paragraph("After.")
    )
    flow = chart(
        "Daily consumption",
        series("2024", {"Winter": "412", "Summer": "0.30000000000000004"}),
        series("2025", {"Winter": "7", "Summer": "8"}),
    )
    cycle = diagram(
        {"all": "", "3": "Learn", "1": "Plan", "2": "Do"},
        [("all", "1"), ("all", "2"), ("2", "3")],
    )

    found = read(body, chart=flow, diagramData=cycle)

    assert found == [
        "Daily consumption",
        "| | 2024 | 2025 |",
        "| Winter | 412 | 7 |",
        "| Summer | 0.3 | 8 |",
        "- Plan",
        "- Do",
        "- Learn",
        "After.",
    ]


def test_headings_are_told_by_what_their_style_is_in_any_language() -> None:
    body = (
        paragraph("Pumps", '<w:pStyle w:val="Titel"/>')
        + paragraph("One", '<w:pStyle w:val="berschrift1"/>')
        + paragraph("Two", '<w:pStyle w:val="Own"/>')
        + paragraph("Three", '<w:outlineLvl w:val="1"/>')
        + paragraph("Text", '<w:pStyle w:val="Flat"/>')
        + paragraph("More", '<w:pStyle w:val="Circle"/>')
        + paragraph("x" * 400, '<w:pStyle w:val="Own"/>')
    )

    content = word.read(word_file(body, {"styles": STYLES}))

    assert content.title == "Pumps"
    assert [(line.text[:5], line.level) for line in content.lines if line.text] == [
        ("One", 1),
        ("Two", 1),
        ("Three", 2),
        ("Text", 0),
        ("More", 0),
        ("xxxxx", 0),
    ]


def test_lists_keep_their_bullets_and_numbers_and_programs_their_lines() -> None:
    def item(text: str, number: int, level: int = 0) -> str:
        place = (
            f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
        )
        return paragraph(text, place)

    def level(number: int, form: str, text: str, start: int = 1) -> str:
        return (
            f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{text}"/></w:lvl>'
        )

    numbering = (
        f'<w:numbering {DECLARED}><w:abstractNum w:abstractNumId="7">{level(0, "decimal", "%1.", 3)}'
        f"{level(1, 'lowerLetter', '%1%2)')}</w:abstractNum>"
        f'<w:abstractNum w:abstractNumId="8">{level(0, "bullet", "o")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="9">{level(0, "upperRoman", "Part %1")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
        '</w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="9"/></w:num></w:numbering>'
    )
    part = '<w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="4"/></w:numPr>'
    body = (
        paragraph("Water", part)
        + item("open", 1) + item("wait", 1, 1) + item("wait on", 1, 1) + item("close", 1)
        + item("anew", 3) + item("a point", 2) + item("no list", 0)
        + paragraph("another", '<w:pStyle w:val="Points"/>')
        + paragraph("if x:", '<w:pStyle w:val="Listing"/>') + paragraph("    y()", '<w:pStyle w:val="Listing"/>')
        + paragraph("Air", part)
    )  # fmt: skip

    content = word.read(word_file(body, {"numbering": numbering, "styles": STYLES}))

    assert [line.text for line in content.lines if line.text] == [
        "Part I Water",
        "3. open",
        "- 3a) wait",
        "- 3b) wait on",
        "4. close",
        "1. anew",
        "- a point",
        "no list",
        "- another",
        "```",
        "if x:",
        "    y()",
        "```",
        "Part II Air",
    ]
    (first, second) = parse_content(content).sections
    assert first.text.endswith("- another\n\n```\nif x:\n    y()\n```")
    assert (first.title, second.title) == ("Part I Water", "Part II Air")


def test_text_behind_a_list_is_not_its_last_item() -> None:
    styled = '<w:pStyle w:val="Points"/>'

    content = word.read(
        word_file(paragraph("a", styled) + paragraph("Text."), {"styles": STYLES})
    )

    assert parse_content(content).sections[0].text == "- a\n\nText."


def test_of_a_document_of_headings_alone_they_are_the_text() -> None:
    heading = '<w:outlineLvl w:val="0"/>'

    found = parse_content(
        word.read(
            word_file(paragraph("Close it.", heading) + paragraph("Go.", heading))
        )
    )

    assert [section.text for section in found.sections] == ["Close it.\n\nGo."]


def test_the_main_part_is_the_one_that_the_file_names_and_strict_files_are_read() -> (
    None
):
    plain = word_file(paragraph("Emptied."), main="word/document2.xml")
    strict = word_file(f"<w:p>{run('x')}{FORMULA.format('y')}</w:p>")

    assert texts(word.read(plain)) == ["Emptied."]
    assert texts(word.read(_strict(strict))) == ["x y"]


def _strict(data: bytes) -> bytes:
    """The same file in the other form of the standard."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            xml = archive.read(name).decode()
            for kind in ("wordprocessingml", "officeDocument", "drawingml"):
                xml = xml.replace(
                    f"{STANDARD}/{kind}/2006/", f"http://purl.oclc.org/ooxml/{kind}/"
                )
            parts[name] = xml
    return zipped(parts)


def test_what_is_not_read_is_said_in_a_line_for_each_kind() -> None:
    picture = '<wp:docPr id="1" name="Picture 1" descr="{}"/><pic:pic/>'
    body = (
        drawing(picture.format("")) + drawing(picture.format("image1.png"))
        + drawing(picture.format("A pump cut open Description automatically generated"))
        + '<w:p><w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>'
        + '<w:r><w:object><o:OLEObject ProgID="Equation.3"/></w:object></w:r></w:p>'
        + '<w:altChunk r:id="none"/>' + drawing("<wps:wsp/>") + drawing('<c:chart r:id="chart"/>')
    )  # fmt: skip
    comments = f"<w:comments {DECLARED}><w:comment/></w:comments>"

    content = word.read(word_file(body, {"comments": comments, "chart": "<broken"}))

    assert texts(content) == ["[picture: A pump cut open]"]
    assert content.losses == (
        "2 drawings without text",
        "2 embedded files were not read",
        "1 formula is a picture",
        "1 comment is not indexed",
        "1 part of the file is broken",
    )


def test_a_document_without_a_loss_names_none() -> None:
    assert word.read(word_file(paragraph("Text."))).losses == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (word_file(paragraph("x"))[:400], "was cut short"),
        (zipped({"mimetype": "x"}), "it is not a Word document"),
        (zipped({"_rels/.rels": "<x"}), "it is broken"),
        (
            zipped({"_rels/.rels": relations({"m": ("officeDocument", "d.xml")})}),
            "it is not a Word document",
        ),
    ],
)
def test_what_is_no_document_is_refused_in_plain_words(
    data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        word.read(data)


@pytest.mark.parametrize("declared", ["<!DOCTYPE x [<!ENTITY e 'y'>]>", "<!DOCTYPE x>"])
def test_no_entity_is_resolved(declared: str) -> None:
    xml = f"{declared}<w:document {DECLARED}><w:body>{paragraph('x')}</w:body></w:document>"
    data = zipped(
        {
            "_rels/.rels": relations({"m": ("officeDocument", "d.xml")}),
            "d.xml": xml,
        }
    )

    with pytest.raises(UnreadableError, match="declares a document type"):
        word.read(data)
