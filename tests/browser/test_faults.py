"""The fault page: no report, a report with a broken promise, and the trace and the command of a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    OpenPage,
    Server,
    Shell,
    serving,
    violations,
    without_traces,
)

TOOL = "tool.search_course_content"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def kept(folder: Path, data_dir: Path, shell: Shell) -> Path:
    """A data folder with a report on a few points, edited to list one broken promise."""
    kept = without_traces(data_dir, folder)
    run = shell.run(
        "faults", "run", "--points", "tool.*,client", "--keep",
        folder=folder, data_dir=kept,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    report = kept / "faults" / "report.json"
    found = json.loads(report.read_bytes())
    broken = next(
        cell for cell in found["cells"]
        if cell["cell"]["point"] == TOOL and cell["cell"]["kind"] == "hang"
    )  # fmt: skip
    broken["result"] = "broken"
    broken["broken"] = ["<img src=x onerror=alert(1)> came in the answer's place"]
    found["counts"]["broken"] += 1
    report.write_text(json.dumps(found))
    return kept


@pytest.fixture(scope="module")
def reported(kept: Path, folder: Path) -> Iterator[Server]:
    with serving(kept, folder) as running:
        yield running


def cell(page: Page, point: str, kind: str) -> Any:
    return page.get_by_role("link", name=re.compile(f": {kind} at {re.escape(point)},"))


def test_without_a_report_the_page_says_which_command_makes_one(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/")
    page.get_by_role("link", name="Faults", exact=True).click()

    expect(page.get_by_role("heading", name="There is no report yet")).to_be_visible()
    expect(page.get_by_text("antiphon faults run --keep")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_show_what_came_of_each_fault_in_colour_and_text(
    scheme: str, reported: Server, open_page: OpenPage
) -> None:
    page = open_page(reported, color_scheme=scheme).open("/faults")
    good, bad = cell(page, TOOL, "raise"), cell(page, TOOL, "hang")

    expect(good).to_contain_text("✓")
    expect(bad).to_contain_text(re.compile(r"✗ 1/\d"))
    expect(page.locator("h1 + p")).to_contain_text("1 cell failed")
    colours = [
        each.evaluate("(link) => getComputedStyle(link).backgroundColor")
        for each in (good, bad)
    ]
    assert colours[0] != colours[1]
    assert violations(page) == []


def test_a_cell_opens_its_trace_and_the_command_that_tries_it_again(
    reported: Server, open_page: OpenPage
) -> None:
    page = open_page(reported).open("/faults")

    cell(page, TOOL, "hang").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(TOOL)
    expect(dialog).to_contain_text("<img src=x onerror=alert(1)> came in")
    expect(dialog.locator("code").nth(1)).to_have_text(
        re.compile(f"^antiphon faults run --points {TOOL} --kinds hang --when ")
    )
    expect(page).to_have_url(re.compile(f"/faults/{TOOL}/hang$"))
    assert violations(page) == []
    dialog.get_by_role("button", name="Open its trace").first.click()

    expect(page).to_have_url(re.compile("/traces/[0-9a-f]{32}$"))
    suspects = page.get_by_role("region", name="What went wrong?")
    expect(suspects).to_contain_text("Broken on purpose")
    page.go_back()
    expect(page.get_by_role("dialog")).to_contain_text(TOOL)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile("/faults$"))


def test_the_page_searches_the_points_and_filters_the_failures(
    reported: Server, open_page: OpenPage
) -> None:
    page = open_page(reported).open("/faults")
    rows = page.locator(".fault-table tbody tr:visible")
    expect(rows).not_to_have_count(0)
    every = rows.count()

    page.get_by_label("Search the points").fill("CLIENT")
    expect(rows).to_have_count(1)
    page.get_by_label("Search the points").fill("no such point")
    expect(page.get_by_text("No point matches.")).to_be_visible()
    page.get_by_label("Search the points").fill("")
    expect(rows).to_have_count(every)
    page.get_by_label("Only what failed").check()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(TOOL)


def test_the_page_fits_a_narrow_screen(reported: Server, open_page: OpenPage) -> None:
    page = open_page(reported, viewport={"width": 360, "height": 740}).open(
        f"/faults/{TOOL}/hang"
    )
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()

    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []
