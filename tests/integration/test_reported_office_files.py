"""Office files modelled on bug reports of other products' users: all text of each is read, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge.loading import load_document
from antiphon.vocabulary.errors import DocumentError

DOCS = Path(__file__).parents[3] / "shared" / "data" / "reports" / "docs"
PUMP = "A centrifugal pump lifts water by spinning it."
# The text of each file, by its table of right values.
READ = {
    "docx_content_control.docx": (
        PUMP,
        "The coupling is greased every forty hours.",
    ),
    "docx_document2_xml.docx": ("The dry dock is emptied in three hours.",),
    "docx_equal_cells.docx": (
        PUMP,
        "| Stage | Min | Max |\n| Start | 5 | 5 |\n| Run | 8 | 9 |",
    ),
    "docx_footnote.docx": (
        PUMP,
        "[note: Measured at 20 degrees with a calibrated gauge of class 0.6.]",
    ),
    "docx_hidden_repeats_visible.docx": (
        PUMP,
        "The filter is changed in May. be checked earlier.",
    ),
    "docx_inline_control.docx": (PUMP, "The rated flow is 31 litres per second."),
    "docx_nested_table.docx": (PUMP, "| Model A | |\n| Impeller | bronze |"),
    "docx_only_headings.docx": (
        "Checklist of the night shift",
        "Close valve seven before the pump stops",
    ),
    "docx_strict.docx": (PUMP,),
    "docx_textbox.docx": (
        PUMP,
        "Warning: never run the pump dry for more than six seconds.",
    ),
    "docx_title_subtitle.docx": (
        "for the pump house",
        "Lock the switch with a red padlock.",
    ),
    "docx_tracked_insertion.docx": (PUMP, "The warranty lasts seven years."),
    "pptx_chart.pptx": (
        "See the chart.",
        "Daily consumption",
        "| | Litres per day |\n| Winter | 412 |\n| Summer | 977 |",
    ),
    "pptx_group.pptx": ("The bypass opens at 12 bar.",),
    "pptx_hidden_slide.pptx": (
        "Second in time, first in file.",
        "Hidden slide says the code is 7714.",
    ),
    "pptx_title_only.pptx": ("Cavitation destroys impellers at 4 bar",),
}
REFUSED = {"docx_truncated.docx": "it is broken or was cut short"}

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason=f"the reported files are not beside the checkout: {DOCS}"
)


def test_every_reported_office_file_has_its_right_value_here() -> None:
    found = {
        path.name for path in DOCS.glob("*x_*.*") if path.suffix in (".docx", ".pptx")
    }

    assert found == {*READ, *REFUSED}


@pytest.mark.parametrize("name", READ)
def test_a_reported_file_is_read_to_the_last_word(name: str) -> None:
    document = load_document(str(DOCS / name))

    text = "\n\n".join([section.text for section in document.sections])
    # The rule under a table's header says nothing.
    text = "\n".join([line for line in text.split("\n") if not line.startswith("|-")])
    assert text == "\n\n".join(READ[name])


@pytest.mark.parametrize("name", REFUSED)
def test_a_reported_file_that_is_broken_is_refused_in_plain_words(name: str) -> None:
    with pytest.raises(DocumentError, match=REFUSED[name]):
        load_document(str(DOCS / name))
