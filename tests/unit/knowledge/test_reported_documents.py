# ruff: noqa: RUF001 - documents in their own languages
"""Documents made after what people reported of other products, each with what must be read of it.

They lie beside the checkout, in shared/data/reports, with a table of what is right.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import format_of, read_content
from antiphon.knowledge.readers.content import Content

FOLDER = Path(__file__).parents[4] / "shared/data/reports"
RIGHT: dict[str, list[str]] = {
    "txt_cp1251.txt": ["Якорь весит девять тонн. Цепь весит пять тонн."],
    "txt_gbk.txt": ["锚重九吨。链重五吨。"],
    "txt_shiftjis.txt": ["錨は九トンです。"],
    "txt_utf16_bom.txt": ["The ballast weighs three tonnes."],
    "txt_utf16_nobom.txt": ["The ballast weighs two tonnes."],
    "txt_utf32.txt": ["The ballast weighs four tonnes."],
    "txt_mixed_utf8_cp1252.txt": ["The café costs € 5 — naïve."],
    "html_all_in_form.html": [
        "Timetable",
        "The night ferry leaves at 23:40 from pier six.",
    ],
    "html_aria_hidden_math.html": ["The speed is v = 17 knots.", "Buoy 14"],
    "html_details_button.html": [
        "How long may a ship stay?",
        "A ship may stay eleven days.",
    ],
    "html_latin1_no_charset.html": ["Naïve crêpes cost € 4."],
    "html_layout_table.html": [
        "The left column says the bridge opens at noon.",
        "| Inner one | Inner two |",
        "The right column says the toll is three crowns.",
    ],
    "html_main_and_article.html": [
        "Short teaser.",
        "The lighthouse was built in 1871 by Danish masons.",
    ],
    "html_mht.html": ["The dock closes at nine."],
    "html_noscript.html": ["Shown."],
    "html_pre_in_li.html": [
        "1. First install it:",
        "```",
        "pip install pump",
        "```",
        "2. Then start it.",
        "RPM:",
        "Turns per minute.",
    ],
    "html_ruby.html": ["漢(kan)字(ji)は便利です。"],
    "html_script_charset.html": ["Færgen sejler klokken otte – ikke ni."],
    "html_shiftjis.html": ["連絡船は七時に出ます。"],
    "html_utf16.html": ["The crane lifts forty tonnes."],
    "html_wrong_charset.html": ["Søren’s crane lifts 50 tonnes."],
    "html_xml_declaration.html": ["The day ferry leaves at 08:15."],
    "md_bom_front_matter.md": ["The mark is at byte zero."],
    "md_cr_only.md": ["C", "Old Mac line.", "Second line."],
    "md_footnotes.md": [
        "Notes",
        "The mast is tall.",
        "[note: It measures 44 metres from the deck.]",
    ],
    "md_front_matter_colon.md": ["Part one", "The quay is 300 metres long."],
    "md_front_matter_toml.md": ["Ebb", "The ebb lasts six hours."],
    "md_gfm.md": [
        "G",
        "- [ ] grease the winch",
        "- [x] paint the hull",
        "old text stays? Visit https://example.org/a_b_c now.",
        "| a | b |",
        "| x | y | z |",
    ],
    "md_html_table.md": [
        "T",
        "| Anchor | 900 kg |",
        "More",
        "The chain has 12 links per metre.",
    ],
    "md_math.md": [
        "M",
        r"The area is $A = \pi r^2$ and $$E = mc^2$$ holds. Price is $5.",
    ],
    "md_mdx.mdx": ["Title", "Hidden text is 12."],
    "md_mdx_as_md.md": ["Ropes", "A wet rope loses a fifth of its strength."],
    "md_tilde_fence.md": [
        "Code",
        "```python",
        "# Lesson 3: not a lesson",
        'print("x")',
        "```",
        "After the code.",
    ],
    "vtt_entities.vtt": [">> Ropes & chains cost 5 crowns, Tom 'n' Ann say."],
    "vtt_youtube_auto.vtt": ["welcome to the harbour tour", "where we count cranes"],
    "srt_no_numbers.srt": ["No number here.", "Nor here."],
    "srt_extra_blank_and_coords.srt": ["Top text.", "Short stamp."],
    "nb_attachment_image.ipynb": ["plan", "The plan shows 6 rooms."],
    "nb_bom.ipynb": ["Mark first."],
    "nb_v3.ipynb": ["Second level", "```python", "a=2", "```", "Old text."],
    "nb_v4_string_source.ipynb": [
        "Winches",
        "A winch pulls.",
        "```",
        "x=1",
        "print(x)",
        "```",
        "```output",
        "The result is 77",
        "```",
        "raw words",
    ],
}
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the reported documents are not there: {FOLDER}"
)


def read(path: Path) -> Content:
    form = format_of(path.name)
    assert form is not None
    return read_content(form, path.read_bytes())


@pytest.mark.parametrize("name", RIGHT)
def test_a_reported_document_reads_as_it_must(name: str) -> None:
    lines = [line.text.strip() for line in read(FOLDER / "docs" / name).lines]

    assert [line for line in lines if line] == RIGHT[name]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("md_bom_front_matter.md", "Marked"),
        ("md_front_matter_colon.md", "Harbour: the basics"),
        ("md_front_matter_toml.md", "Tides"),
        ("nb_v2_empty_cells.ipynb", "T"),
    ],
)
def test_a_reported_document_says_its_title(name: str, title: str) -> None:
    assert read(FOLDER / "docs" / name).title == title


def test_captions_without_stops_are_sentences_cited_within_ten_seconds() -> None:
    (section,) = parse_content(read(FOLDER / "cli/auto.vtt")).sections

    sentences = section.text.split("\n\n")
    places = [mark.place for mark in section.marks]
    assert max(len(sentence.split()) for sentence in sentences) <= 20
    assert len(places) == len(sentences)
    assert places[:3] == ["at 0:00", "at 0:06", "at 0:12"]
