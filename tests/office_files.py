"""Small Word, PowerPoint and OpenDocument files, written part by part like the real programs' files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO

STANDARD = "http://schemas.openxmlformats.org"
_TYPES = f"{STANDARD}/officeDocument/2006/relationships"
_NAMESPACES = {
    "w": f"{STANDARD}/wordprocessingml/2006/main",
    "p": f"{STANDARD}/presentationml/2006/main",
    "a": f"{STANDARD}/drawingml/2006/main",
    "c": f"{STANDARD}/drawingml/2006/chart",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    "dgm": f"{STANDARD}/drawingml/2006/diagram",
    "pic": f"{STANDARD}/drawingml/2006/picture",
    "wp": f"{STANDARD}/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "mc": f"{STANDARD}/markup-compatibility/2006",
    "m": f"{STANDARD}/officeDocument/2006/math",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "r": _TYPES,
    "o": "urn:schemas-microsoft-com:office:office",
    "v": "urn:schemas-microsoft-com:vml",
}
DECLARED = " ".join([f'xmlns:{name}="{uri}"' for name, uri in _NAMESPACES.items()])

_OPENED = {
    "office": "office",
    "text": "text",
    "table": "table",
    "draw": "drawing",
    "style": "style",
    "presentation": "presentation",
    "svg": "svg-compatible",
    "chart": "chart",
}
OPEN = " ".join(
    [
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in _OPENED.items()
    ]
    + [
        'xmlns:xlink="http://www.w3.org/1999/xlink"',
        'xmlns:math="http://www.w3.org/1998/Math/MathML"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)
"""The namespaces of OpenDocument, declared."""


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def relations(parts: Mapping[str, tuple[str, str]]) -> str:
    """The relationships of a part: the kind and the target's name of each, by id."""
    listed = [
        f'<Relationship Id="{key}" Type="{_TYPES}/{what}" Target="{target}"/>'
        for key, (what, target) in parts.items()
    ]
    namespace = f"{STANDARD}/package/2006/relationships"
    return f'<Relationships xmlns="{namespace}">{"".join(listed)}</Relationships>'


def word_file(
    body: str, parts: Mapping[str, str] | None = None, main: str = "word/document.xml"
) -> bytes:
    """A Word document of these blocks.

    Args:
        parts: The XML of its other parts by kind of relationship, which is also their id.
    """
    named = dict(parts or {})
    links = {what: (what, f"/word/{what}.xml") for what in named}
    folder, _, name = main.rpartition("/")
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations({"main": ("officeDocument", main)}),
        main: f"<w:document {DECLARED}><w:body>{body}</w:body></w:document>",
        f"{folder}/_rels/{name}.rels": relations(links),
    }
    for what, xml in named.items():
        files[f"word/{what}.xml"] = xml
    return zipped(files)


def deck_file(
    slides: list[str],
    notes: str = "",
    parts: Mapping[str, str] | None = None,
    attributes: str = "",
) -> bytes:
    """A presentation of slides with these shapes; the notes are those of the first slide.

    Args:
        parts: The XML of the first slide's parts by kind of relationship, which is also their id.
    """
    named = dict(parts or {})
    if notes:
        named["notesSlide"] = (
            f"<p:notes {DECLARED}><p:cSld><p:spTree>{notes}</p:spTree></p:cSld></p:notes>"
        )
    places = range(1, len(slides) + 1)
    listed = "".join([f'<p:sldId id="{n}" r:id="s{n}"/>' for n in places])
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations({"main": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"<p:presentation {DECLARED}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in places}
        ),
        "ppt/slides/_rels/slide1.xml.rels": relations(
            {what: (what, f"../{what}.xml") for what in named}
        ),
    }
    for number, shapes in enumerate(slides, start=1):
        files[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {DECLARED} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    for what, xml in named.items():
        files[f"ppt/{what}.xml"] = xml
    return zipped(files)


def open_file(
    body: str,
    kind: str = "text",
    styles: str = "",
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """An OpenDocument file of that kind, with its automatic styles and other parts."""
    content = (
        f"<office:document-content {OPEN}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped({"content.xml": content, **(parts or {})})


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of Word."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str, properties: str = "") -> str:
    return (
        f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
    )


def shape(*texts: str, placeholder: str | None = None, properties: str = "") -> str:
    """A shape of a slide with a paragraph for each text."""
    filled = "" if placeholder is None else f"<p:ph {placeholder}/>"
    paragraphs = [
        f"<a:p><a:pPr>{properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>"
        for text in texts
    ]
    return f"<p:sp><p:nvSpPr><p:nvPr>{filled}</p:nvPr></p:nvSpPr><p:txBody>{''.join(paragraphs)}</p:txBody></p:sp>"


def series(name: str, values: Mapping[str, str]) -> str:
    """A series of a chart: its values by their categories."""
    return (
        f"<c:ser><c:tx><c:strRef><c:f>A!B1</c:f><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache>"
        f"</c:strRef></c:tx><c:cat><c:strRef><c:strCache>{_points(values)}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode>{_points(values.values())}</c:numCache>"
        "</c:numRef></c:val></c:ser>"
    )


def _points(values: object) -> str:
    assert hasattr(values, "__iter__")
    return "".join(
        [f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values)]
    )


def chart(title: str, *all_series: str) -> str:
    return (
        f"<c:chartSpace {DECLARED}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:rich>"
        f"</c:tx></c:title><c:plotArea><c:barChart>{''.join(all_series)}</c:barChart></c:plotArea></c:chart>"
        "</c:chartSpace>"
    )


def diagram(parts: Mapping[str, str], links: list[tuple[str, str]]) -> str:
    """A diagram's parts by id; the first is the diagram itself, and each link leads from a whole to a part."""
    points = []
    for place, (key, text) in enumerate(parts.items()):
        own = "node" if place else "doc"
        points.append(
            f'<dgm:pt modelId="{key}" type="{own}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        )
    joined = [
        f'<dgm:cxn srcId="{whole}" destId="{part}" srcOrd="{place}"/>'
        for place, (whole, part) in enumerate(links)
    ]
    return (
        f"<dgm:dataModel {DECLARED}><dgm:ptLst>{''.join(points)}</dgm:ptLst><dgm:cxnLst>{''.join(joined)}</dgm:cxnLst>"
        "</dgm:dataModel>"
    )
